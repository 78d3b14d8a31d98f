the first 2 of 3 steps:
MATCH (v1:Version) USING INDEX SEEK v1:Version(space, type, number)
WHERE v1.space = $space AND v1.number IS NOT NULL AND v1.kind = $v_aa AND v1.type = $v_ab AND v1.state IN $v_ac AND v1.from_seq <= $at AND $at < v1.to_seq
WITH v1, v1.id AS v1_id
MATCH (v2:Version) USING INDEX SEEK v2:Version(space, subject, type, object_key)
WHERE v2.space = $space AND v2.kind = $v_ad AND v2.type IN $v_ae AND v2.state IN $v_af AND v2.subject = v1_id AND v2.object_key IS NOT NULL AND v2.from_seq <= $at AND $at < v2.to_seq
WITH v1, v1_id, v2, v2.id AS v2_id, v2.object_key AS v2_object_key
WITH v1_id AS c0, v2_id AS c1, CASE WHEN left(v2_object_key, 1) IN ['A', 'C', 'E', 'P', 'X'] THEN null ELSE v2.body END AS c2, v2_object_key AS c3 LIMIT $most
WITH collect([c0, c1, c2, c3]) AS rows
CALL (rows) {
UNWIND CASE WHEN size(rows) <= $few THEN rows ELSE [] END AS row
UNWIND [row[0], row[1], row[3]] AS id
WITH DISTINCT id
MATCH (v:Version) USING INDEX SEEK v:Version(space, id, from_seq)
WHERE v.space = $space AND v.id = id AND v.from_seq <= $at AND $at < v.to_seq
RETURN collect(v.body) AS bodies }
RETURN [rows, bodies] AS found
