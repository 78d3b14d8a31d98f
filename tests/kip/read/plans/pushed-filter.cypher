MATCH (v1:Version) USING INDEX SEEK v1:Version(space, type, number)
WHERE v1.space = $space AND v1.number IS NOT NULL AND v1.kind = $v_aa AND v1.type = $v_ab AND v1.state IN $v_ac AND v1.from_seq <= $at AND $at < v1.to_seq
WITH v1, v1.id AS v1_id
WITH v1, v1_id, split(split(coalesce(v1.attributes, toString(1 / $nothing)), $v_ag)[1], $entry)[0] AS m1
WITH v1, v1_id, m1, CASE WHEN left(m1, 1) IN ['b', 'n', 's'] OR m1 IS NULL THEN m1 ELSE toString(1 / $nothing) END AS j2
WITH v1, v1_id, m1, j2, split(split(coalesce(v1.members, toString(1 / $nothing)), $v_ai)[1], $entry)[0] AS m3
WITH v1, v1_id, m1, j2, m3, CASE WHEN left(m3, 1) IN ['b', 'n', 's', 't'] OR m3 IS NULL THEN m3 ELSE toString(1 / $nothing) END AS j4
WITH v1, v1_id, m1, j2, m3, j4
WHERE (CASE WHEN j2 IS NULL THEN null WHEN left(j2, 1) IN ['n'] THEN toFloat(substring(j2, 1)) > $v_ad ELSE false END AND (NOT CASE WHEN j4 IS NULL THEN null WHEN left(j4, 1) IN ['s', 't'] THEN substring(j4, 1) = $v_ah ELSE false END))
WITH v1, v1_id, m1, j2, m3, j4 ORDER BY v1.space, v1.type, v1.number LIMIT $v_aj
WITH v1_id AS c0
WITH collect([c0]) AS rows
CALL (rows) {
UNWIND CASE WHEN size(rows) <= $few THEN rows ELSE [] END AS row
UNWIND [row[0]] AS id
WITH DISTINCT id
MATCH (v:Version) USING INDEX SEEK v:Version(space, id, from_seq)
WHERE v.space = $space AND v.id = id AND v.from_seq <= $at AND $at < v.to_seq
RETURN collect(v.body) AS bodies }
RETURN [rows, bodies] AS found
