the first 5 of 5 steps:
MATCH (v1:Version) USING INDEX SEEK v1:Version(space, key, type)
WHERE v1.space = $space AND v1.kind = $v_aa AND v1.type IN $v_ab AND v1.state IN $v_ac AND v1.key = $v_ad AND v1.from_seq <= $at AND $at < v1.to_seq
WITH v1, v1.id AS v1_id
MATCH (v2:Version) USING INDEX SEEK v2:Version(space, subject, type, object_key)
WHERE v2.space = $space AND v2.kind = $v_ae AND v2.type IN $v_af AND v2.state IN $v_ag AND v2.subject = v1_id AND v2.object_key IS NOT NULL AND v2.from_seq <= $at AND $at < v2.to_seq
WITH v1, v1_id, v2, v2.id AS v2_id, v2.object_key AS v2_object_key
MATCH (v3:Version) USING INDEX SEEK v3:Version(space, subject, type, object_key)
WHERE v3.space = $space AND v3.kind = $v_ah AND v3.type IN $v_ai AND v3.state IN $v_aj AND v3.subject = v2_object_key AND v3.object_key IS NOT NULL AND v3.from_seq <= $at AND $at < v3.to_seq
WITH v1, v1_id, v2, v2_id, v2_object_key, v3, v3.id AS v3_id, v3.object_key AS v3_object_key
MATCH (v4:Version) USING INDEX SEEK v4:Version(space, subject, type, object_key)
WHERE v4.space = $space AND v4.kind = $v_ak AND v4.type IN $v_al AND v4.state IN $v_am AND v4.subject = v3_object_key AND v4.object_key IS NOT NULL AND v4.from_seq <= $at AND $at < v4.to_seq
WITH v1, v1_id, v2, v2_id, v2_object_key, v3, v3_id, v3_object_key, v4, v4.id AS v4_id, v4.object_key AS v4_object_key
MATCH (v5:Version) USING INDEX SEEK v5:Version(space, id, from_seq)
WHERE v5.space = $space AND v5.id = v4_object_key AND v5.kind = $v_an AND v5.type IN $v_ao AND v5.state IN $v_ap AND v5.from_seq <= $at AND $at < v5.to_seq
WITH v1, v1_id, v2, v2_id, v2_object_key, v3, v3_id, v3_object_key, v4, v4_id, v4_object_key, v5, v5.id AS v5_id
WITH v1_id AS c0, v2_id AS c1, CASE WHEN left(v2_object_key, 1) IN ['A', 'C', 'E', 'P', 'X'] THEN null ELSE v2.body END AS c2, v2_object_key AS c3, v3_id AS c4, CASE WHEN left(v3_object_key, 1) IN ['A', 'C', 'E', 'P', 'X'] THEN null ELSE v3.body END AS c5, v3_object_key AS c6, v4_id AS c7, v5_id AS c8 LIMIT $most
WITH collect([c0, c1, c2, c3, c4, c5, c6, c7, c8]) AS rows
CALL (rows) {
UNWIND CASE WHEN size(rows) <= $few THEN rows ELSE [] END AS row
UNWIND [row[0], row[1], row[3], row[4], row[6], row[7], row[8]] AS id
WITH DISTINCT id
MATCH (v:Version) USING INDEX SEEK v:Version(space, id, from_seq)
WHERE v.space = $space AND v.id = id AND v.from_seq <= $at AND $at < v.to_seq
RETURN collect(v.body) AS bodies }
RETURN [rows, bodies] AS found
