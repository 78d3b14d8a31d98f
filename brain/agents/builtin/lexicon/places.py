"""Countries and well-known cities, for writers who use no capitals, and words that look like places and are none."""

from __future__ import annotations

from brain.agents.builtin.lexicon import words

COUNTRIES = frozenset(
    name.strip()
    for name in """
    argentina, australia, austria, bangladesh, belgium, bolivia, brazil, bulgaria, cambodia, cameroon, canada, chile,
    china, colombia, costa rica, croatia, cuba, cyprus, czechia, denmark, ecuador, egypt, england, estonia, ethiopia,
    finland, france, georgia, germany, ghana, greece, hungary, iceland, india, indonesia, iran, iraq, ireland, israel,
    italy, jamaica, japan, jordan, kenya, latvia, lebanon, lithuania, luxembourg, malaysia, malta, mexico, moldova,
    mongolia, morocco, nepal, netherlands, the netherlands, new zealand, nigeria, norway, pakistan, panama, peru,
    philippines, the philippines, poland, portugal, qatar, romania, russia, scotland, senegal, serbia, singapore,
    slovakia, slovenia, south africa, south korea, spain, sri lanka, sweden, switzerland, syria, taiwan, tanzania,
    thailand, tunisia, turkey, uganda, ukraine, united kingdom, united states, uruguay, venezuela, vietnam, wales,
    zambia, zimbabwe, uk, usa, the uk, the us, the usa
    """.replace("\n", " ").split(",")
)
CITIES = frozenset(
    name.strip()
    for name in """
    abu dhabi, accra, amsterdam, ankara, antwerp, athens, atlanta, auckland, austin, baghdad, bangalore, bangkok,
    barcelona, basel, beijing, beirut, belfast, belgrade, bergen, berlin, bern, bilbao, birmingham, bogota, bologna,
    bordeaux, boston, bratislava, brisbane, bristol, brussels, bucharest, budapest, buenos aires, cairo, cambridge,
    canberra, cape town, casablanca, chengdu, chicago, cologne, copenhagen, dallas, delhi, denver, detroit, dubai,
    dublin, düsseldorf, edinburgh, florence, frankfurt, galway, gdansk, geneva, genoa, ghent, glasgow, gothenburg,
    granada, graz, guangzhou, hamburg, hangzhou, hanoi, havana, helsinki, hong kong, houston, istanbul, jakarta,
    jerusalem, johannesburg, kathmandu, kiev, kyiv, krakow, kuala lumpur, kyoto, lagos, lausanne, leeds, leipzig,
    lille, lima, lisbon, liverpool, ljubljana, london, los angeles, lyon, madrid, malaga, manchester, manila,
    marseille, melbourne, mexico city, miami, milan, minsk, montevideo, montreal, moscow, mumbai, munich, nagoya,
    nairobi, nanjing, nantes, naples, new york, nice, nuremberg, osaka, oslo, ottawa, oxford, palermo, paris, perth,
    philadelphia, phoenix, porto, portland, prague, quito, reykjavik, riga, rio de janeiro, rome, rotterdam, salzburg,
    san diego, san francisco, santiago, sao paulo, são paulo, sarajevo, seattle, seoul, seville, shanghai, shenzhen,
    sofia, stockholm, strasbourg, stuttgart, suzhou, sydney, szeged, taipei, tallinn, tehran, tel aviv, the hague,
    tianjin, tokyo, toronto, toulouse, trieste, tunis, turin, utrecht, valencia, vancouver, venice, vienna, vilnius,
    warsaw, washington, wuhan, xiamen, zagreb, zaragoza, zurich, zürich
    """.replace("\n", " ").split(",")
)
PLACES = COUNTRIES | CITIES

NO_PLACE = words(
    """
    fear peace hope denial poverty luxury hell heaven pain sin style harmony misery comfort exile darkness squalor
    english french german spanish chinese python rust java marketing sales finance it hr tech
    """
)
"""What stands after "live in" or "work in" and is no place."""

CHINESE_NO_PLACE = (
    "家",
    "宿舍",
    "学校",
    "酒店",
    "这里",
    "那里",
    "这儿",
    "那儿",
    "哪里",
    "哪儿",
    "梦里",
    "一起",
    "楼上",
    "楼下",
    "隔壁",
    "附近",
)

CHINESE_PLACES = words(
    """
    北京 上海 广州 深圳 天津 重庆 成都 杭州 武汉 西安 南京 苏州 青岛 大连 厦门 长沙 郑州 沈阳 哈尔滨 长春 济南 昆明
    合肥 福州 南昌 南宁 贵阳 太原 石家庄 兰州 银川 西宁 海口 三亚 呼和浩特 乌鲁木齐 拉萨 宁波 无锡 温州 珠海 东莞 佛山
    香港 澳门 台北 台湾 高雄 广东 四川 浙江 江苏 山东 河南 河北 湖南 湖北 福建 安徽 江西 云南 贵州 陕西 山西 辽宁 吉林
    黑龙江 海南 甘肃 青海 新疆 西藏 内蒙古 宁夏 广西 中国 美国 英国 法国 德国 日本 韩国 意大利 西班牙 葡萄牙 俄罗斯
    加拿大 澳大利亚 新西兰 新加坡 马来西亚 泰国 越南 印度 巴西 墨西哥 荷兰 瑞士 瑞典 挪威 丹麦 芬兰 奥地利 比利时 波兰
    希腊 土耳其 埃及 以色列 纽约 洛杉矶 旧金山 西雅图 波士顿 芝加哥 华盛顿 多伦多 温哥华 伦敦 巴黎 柏林 慕尼黑 罗马
    米兰 马德里 巴塞罗那 里斯本 波尔图 莫斯科 东京 大阪 京都 首尔 曼谷 悉尼 墨尔本 阿姆斯特丹 维也纳 苏黎世
    """
)
