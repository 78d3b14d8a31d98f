MATCH (v1:Version) USING INDEX SEEK v1:Version(space, type, number)
WHERE v1.space = $space AND v1.number IS NOT NULL AND v1.kind = $v_aa AND v1.type = $v_ab AND v1.state IN $v_ac AND v1.from_seq <= $at AND $at < v1.to_seq
WITH v1, v1.id AS v1_id
WITH v1, v1_id, split(split(coalesce(v1.attributes, toString(1 / $nothing)), $v_af)[1], $entry)[0] AS m1
WITH v1, v1_id, m1, CASE WHEN left(m1, 1) IN ['b', 'n', 's'] OR m1 IS NULL THEN m1 ELSE toString(1 / $nothing) END AS j2
WITH v1, v1_id, m1, j2, coalesce(CASE left(j2, 1) WHEN 'b' THEN 0 WHEN 'n' THEN 1 WHEN 's' THEN 2 WHEN 't' THEN 2 END, -9) AS k3
WITH v1, v1_id, m1, j2, k3, CASE left(j2, 1) WHEN 'n' THEN toFloat(substring(j2, 1)) WHEN 'b' THEN j2 = 'btrue' ELSE substring(j2, 1) END AS k4
WITH v1, v1_id, m1, j2, k3, k4, v1.number AS t5
WITH v1, v1_id, m1, j2, k3, k4, t5 ORDER BY k3 DESC, k4 DESC, t5 LIMIT $v_ag
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
