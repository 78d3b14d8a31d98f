"""Countries and well-known cities, for writers who use no capitals, and words that look like places and are none."""

from __future__ import annotations

COUNTRIES = frozenset(
    name.strip()
    for name in """
    argentina, australia, austria, bangladesh, belgium, bolivia, brazil, bulgaria, cambodia, cameroon, canada, chile, china,
    colombia, costa rica, croatia, cuba, cyprus, czechia, denmark, ecuador, egypt, england, estonia, ethiopia, finland, france,
    georgia, germany, ghana, greece, hungary, iceland, india, indonesia, iran, iraq, ireland, israel, italy, jamaica, japan,
    jordan, kenya, latvia, lebanon, lithuania, luxembourg, malaysia, malta, mexico, moldova, mongolia, morocco, nepal,
    netherlands, the netherlands, new zealand, nigeria, norway, pakistan, panama, peru, philippines, the philippines, poland,
    portugal, qatar, romania, russia, scotland, senegal, serbia, singapore, slovakia, slovenia, south africa, south korea, spain,
    sri lanka, sweden, switzerland, syria, taiwan, tanzania, thailand, tunisia, turkey, uganda, ukraine, united kingdom,
    united states, uruguay, venezuela, vietnam, wales, zambia, zimbabwe, uk, usa, the uk, the us, the usa
    """.replace("\n", " ").split(",")
)
CITIES = frozenset(
    name.strip()
    for name in """
    abu dhabi, accra, amsterdam, ankara, antwerp, athens, atlanta, auckland, austin, baghdad, bangalore, bangkok, barcelona,
    basel, beijing, beirut, belfast, belgrade, bergen, berlin, bern, bilbao, birmingham, bogota, bologna, bordeaux, boston,
    bratislava, brisbane, bristol, brussels, bucharest, budapest, buenos aires, cairo, cambridge, canberra, cape town,
    casablanca, chengdu, chicago, cologne, copenhagen, dallas, delhi, denver, detroit, dubai, dublin, düsseldorf, edinburgh,
    florence, frankfurt, galway, gdansk, geneva, genoa, ghent, glasgow, gothenburg, granada, graz, guangzhou, hamburg, hangzhou,
    hanoi, havana, helsinki, hong kong, houston, istanbul, jakarta, jerusalem, johannesburg, kathmandu, kiev, kyiv, krakow,
    kuala lumpur, kyoto, lagos, lausanne, leeds, leipzig, lille, lima, lisbon, liverpool, ljubljana, london, los angeles, lyon,
    madrid, malaga, manchester, manila, marseille, melbourne, mexico city, miami, milan, minsk, montevideo, montreal, moscow,
    mumbai, munich, nagoya, nairobi, nanjing, nantes, naples, new york, nice, nuremberg, osaka, oslo, ottawa, oxford, palermo,
    paris, perth, philadelphia, phoenix, porto, portland, prague, quito, reykjavik, riga, rio de janeiro, rome, rotterdam,
    salzburg, san diego, san francisco, santiago, sao paulo, são paulo, sarajevo, seattle, seoul, seville, shanghai, shenzhen,
    sofia, stockholm, strasbourg, stuttgart, suzhou, sydney, szeged, taipei, tallinn, tehran, tel aviv, the hague, tianjin,
    tokyo, toronto, toulouse, trieste, tunis, turin, utrecht, valencia, vancouver, venice, vienna, vilnius, warsaw, washington,
    wuhan, xiamen, zagreb, zaragoza, zurich, zürich
    """.replace("\n", " ").split(",")
)
PLACES = COUNTRIES | CITIES

NO_PLACE = frozenset(
    "fear peace hope denial poverty luxury hell heaven pain sin style harmony misery comfort exile darkness squalor "
    "english french german spanish chinese python rust java marketing sales finance it hr tech".split()
)
"""What stands after "live in" or "work in" and is no place."""

CHINESE_NO_PLACE = ("家", "宿舍", "学校", "酒店", "这里", "那里", "这儿", "那儿", "哪里", "哪儿", "梦里", "一起", "楼上", "楼下", "隔壁", "附近")
