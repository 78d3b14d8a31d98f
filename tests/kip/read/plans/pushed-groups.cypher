MATCH (v1:Version) USING INDEX SEEK v1:Version(space, type, number)
WHERE v1.space = $space AND v1.number IS NOT NULL AND v1.kind = $v_aa AND v1.type = $v_ab AND v1.state IN $v_ac AND v1.from_seq <= $at AND $at < v1.to_seq
WITH v1, v1.id AS v1_id
WITH v1, v1_id, split(split(coalesce(v1.attributes, toString(1 / $nothing)), $v_af)[1], $entry)[0] AS m1
WITH v1, v1_id, m1, CASE WHEN left(m1, 1) IN ['b', 'n', 's', 't'] OR m1 IS NULL THEN m1 ELSE toString(1 / $nothing) END AS j2
WITH v1, v1_id, m1, j2
WHERE CASE WHEN j2 IS NULL THEN null WHEN left(j2, 1) = 'n' THEN toFloat(substring(j2, 1)) IN $v_ah WHEN left(j2, 1) = 'b' THEN substring(j2, 1) IN $v_ai ELSE substring(j2, 1) IN $v_ag END
WITH v1, v1_id, m1, j2, split(split(coalesce(v1.attributes, toString(1 / $nothing)), $v_aj)[1], $entry)[0] AS m3
WITH v1, v1_id, m1, j2, m3, CASE WHEN left(m3, 1) IN ['b', 'n', 's', 't'] OR m3 IS NULL THEN m3 ELSE toString(1 / $nothing) END AS j4
WITH j4 AS g0, v1_id AS a0, [v1_id] AS seen, [] AS unseen LIMIT $most
WITH g0, count(a0) AS n0, count(*) AS ways, collect(seen + unseen)[..$cited] AS cited LIMIT $rows
WITH coalesce(sum(ways), 0) AS met, collect([g0, n0, cited]) AS rows
WITH met, rows, [] AS bodies
RETURN [met, rows, bodies] AS found
