the first 4 of 4 steps:
MATCH (v1:Version) USING INDEX SEEK v1:Version(space, key, type)
WHERE v1.space = $space AND v1.kind = $v_aa AND v1.type IN $v_ab AND v1.state IN $v_ac AND v1.key = $v_ad AND v1.from_seq <= $at AND $at < v1.to_seq
WITH v1, v1.id AS v1_id
MATCH (v2:Version) USING INDEX SEEK v2:Version(space, object_key, type)
WHERE v2.space = $space AND v2.kind = $v_ae AND v2.type IN $v_af AND v2.state IN $v_ag AND v2.subject IS NOT NULL AND v2.object_key = v1_id AND v2.from_seq <= $at AND $at < v2.to_seq
WITH v1, v1_id, v2, v2.id AS v2_id, v2.subject AS v2_subject
MATCH (v3:Version) USING INDEX SEEK v3:Version(space, subject, type, object_key)
WHERE v3.space = $space AND v3.kind = $v_ah AND v3.type IN $v_ai AND v3.state IN $v_aj AND v3.subject = v2_subject AND v3.object_key IS NOT NULL AND v3.from_seq <= $at AND $at < v3.to_seq
WITH v1, v1_id, v2, v2_id, v2_subject, v3, v3.id AS v3_id, v3.object_key AS v3_object_key
CALL (v1, v1_id, v2, v2_id, v2_subject, v3, v3_id, v3_object_key) {
MATCH (v4:Version) USING INDEX SEEK v4:Version(space, subject, type, object_key)
WHERE v4.space = $space AND v4.kind = $v_ak AND v4.type IN $v_al AND v4.state IN $v_am AND v4.subject = v1_id AND v4.object_key = v2_subject AND v4.from_seq <= $at AND $at < v4.to_seq
WITH v1, v1_id, v2, v2_id, v2_subject, v3, v3_id, v3_object_key, v4, v4.id AS v4_id
WITH 1 AS one LIMIT 1
RETURN count(*) AS f6 }
WITH v1, v1_id, v2, v2_id, v2_subject, v3, v3_id, v3_object_key, f6
WHERE f6 = 0
WITH v1_id AS c0, v2_id AS c1, v2_subject AS c2, v3_id AS c3, CASE WHEN left(v3_object_key, 1) IN ['A', 'C', 'E', 'P', 'X'] THEN null ELSE v3.body END AS c4, v3_object_key AS c5 LIMIT $most
WITH collect([c0, c1, c2, c3, c4, c5]) AS rows
CALL (rows) {
UNWIND CASE WHEN size(rows) <= $few THEN rows ELSE [] END AS row
UNWIND [row[0], row[1], row[2], row[3], row[5]] AS id
WITH DISTINCT id
MATCH (v:Version) USING INDEX SEEK v:Version(space, id, from_seq)
WHERE v.space = $space AND v.id = id AND v.from_seq <= $at AND $at < v.to_seq
RETURN collect(v.body) AS bodies }
RETURN [rows, bodies] AS found
