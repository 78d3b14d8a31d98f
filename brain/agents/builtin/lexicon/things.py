"""Kinds of options, places known without a capital letter, roles, diets, languages."""

from __future__ import annotations

from brain.agents.builtin.lexicon import words

_KINDS: dict[str, str] = {
    "Drink": "tea coffee espresso cappuccino latte matcha wine beer juice water milk cola soda cocoa lemonade whisky rum "
    "cider smoothie kombucha americano mocha",
    "Food": "pizza pasta sushi ramen curry cheese chocolate bread rice salad soup steak burger burgers tacos noodles fish "
    "seafood chicken beef pork tofu fruit vegetables mushrooms onions olives cilantro coriander garlic ginger dumplings "
    "hotpot cake cookies icecream strawberries mangoes mango apples bananas breakfast dessert desserts sandwiches kimchi "
    "falafel hummus pancakes peanuts nuts eggs shrimp lasagna risotto paella spinach broccoli avocado avocados oysters liver",
    "ColorScheme": "darkmode lightmode",
    "Color": "red blue green yellow orange purple violet pink black white grey gray brown teal turquoise indigo magenta beige",
    "Editor": "vim neovim emacs vscode sublime pycharm intellij helix nano jetbrains",
    "ProgrammingLanguage": "python rust java javascript typescript go golang kotlin swift ruby haskell scala elixir clojure "
    "perl php julia c++ c# fortran cobol zig",
    "OperatingSystem": "linux windows macos ubuntu debian fedora arch android ios freebsd",
    "MusicGenre": "jazz rock pop classical blues techno metal hiphop reggae folk opera punk country house ambient",
    "Sport": "tennis football soccer basketball volleyball swimming running cycling hiking climbing bouldering yoga skiing "
    "snowboarding surfing golf badminton rowing sailing karate judo boxing cricket rugby baseball pilates jogging squash",
    "Hobby": "painting drawing photography gardening knitting chess cooking baking reading writing dancing singing fishing "
    "camping pottery woodworking birdwatching astronomy gaming travelling traveling origami",
    "Season": "spring summer autumn winter",
    "Animal": "cats dogs horses rabbits birds penguins elephants",
    "Seat": "aisle window",
    "ContactChannel": "email phone slack telegram whatsapp wechat signal sms teams zoom",
    "TransportMode": "train trains bus buses bike bikes bicycle plane planes car cars metro subway tram taxi taxis ferry "
    "flying driving walking",
    "MeetingTime": "mornings afternoons evenings nights",
    "FileFormat": "pdf markdown csv json html docx",
}
KIND_OF: dict[str, str] = {word: kind for kind, words in _KINDS.items() for word in words.split()}
"""The kind of option a word names, for `prefers`: options compete only with others of their kind."""

KIND_HEADS: dict[str, str] = {
    "mode": "ColorScheme", "theme": "ColorScheme", "tea": "Drink", "coffee": "Drink", "wine": "Drink", "beer": "Drink",
    "juice": "Drink", "water": "Drink", "milk": "Drink", "food": "Food", "cuisine": "Food", "cake": "Food", "chocolate": "Food",
    "cheese": "Food", "soup": "Food", "salad": "Food", "noodles": "Food", "cream": "Food", "music": "MusicGenre",
    "seat": "Seat", "seats": "Seat", "meetings": "MeetingFormat", "calls": "ContactChannel", "messages": "ContactChannel",
    "emails": "ContactChannel", "hotels": "Lodging", "hotel": "Lodging", "books": "ReadingMatter", "movies": "FilmGenre",
    "films": "FilmGenre", "trains": "TransportMode", "flights": "Flight", "answers": "AnswerStyle", "replies": "AnswerStyle",
    "responses": "AnswerStyle", "summaries": "AnswerStyle", "reports": "AnswerStyle", "keyboard": "Keyboard",
    "keyboards": "Keyboard", "shoes": "Clothing", "clothes": "Clothing",
}  # fmt: skip
"""The kind of an option by its last word: `short answers`, `window seat`."""

FAVOURITE_KINDS: dict[str, str] = {
    "colour": "Color", "color": "Color", "drink": "Drink", "food": "Food", "dish": "Food", "meal": "Food", "fruit": "Food",
    "snack": "Food", "dessert": "Food", "cuisine": "Food", "editor": "Editor", "programming language": "ProgrammingLanguage",
    "language": "ProgrammingLanguage", "os": "OperatingSystem", "operating system": "OperatingSystem", "sport": "Sport",
    "hobby": "Hobby", "season": "Season", "animal": "Animal", "music": "MusicGenre", "genre": "MusicGenre",
    "music genre": "MusicGenre", "book": "Book", "movie": "Film", "film": "Film", "song": "Song", "band": "Band",
    "singer": "Musician", "author": "Author", "writer": "Author", "city": "City", "country": "Country", "game": "Game",
    "restaurant": "Restaurant", "number": "Number", "tv show": "Series", "show": "Series", "series": "Series",
    "team": "SportsTeam", "subject": "SchoolSubject", "flower": "Flower", "day": "Weekday", "tea": "Drink", "coffee": "Drink",
    "wine": "Drink", "ice cream": "IceCreamFlavour", "tool": "Tool", "app": "App", "website": "Website", "place": "Spot",
    "cake": "Food", "pizza": "Food", "podcast": "Podcast", "artist": "Artist", "painter": "Artist", "actor": "Actor",
    "actress": "Actor", "poet": "Author", "composer": "Musician", "café": "Cafe", "cafe": "Cafe", "beer": "Drink",
}  # fmt: skip
"""The kind that `my favourite X` speaks of."""

CHINESE_KIND_OF: dict[str, str] = {
    word: kind
    for kind, words in {
        "Drink": "茶 咖啡 绿茶 红茶 乌龙茶 奶茶 牛奶 果汁 啤酒 红酒 白酒 可乐 豆浆 水 拿铁 美式咖啡 抹茶",
        "Food": "火锅 饺子 面条 米饭 寿司 披萨 蛋糕 巧克力 水果 苹果 香蕉 芒果 草莓 榴莲 香菜 海鲜 牛肉 猪肉 鸡肉 辣椒 川菜 粤菜 拉面 "
        "包子 豆腐 冰淇淋 面包 西瓜 蘑菇 洋葱 大蒜",
        "ColorScheme": "深色模式 浅色模式 暗黑模式 夜间模式 深色主题 浅色主题",
        "Color": "红色 蓝色 绿色 黄色 橙色 紫色 粉色 黑色 白色 灰色 棕色",
        "MusicGenre": "爵士 爵士乐 摇滚 流行音乐 古典音乐 民谣 嘻哈 电子音乐 蓝调",
        "Sport": "游泳 跑步 篮球 足球 网球 羽毛球 乒乓球 爬山 登山 滑雪 瑜伽 骑车 骑自行车 徒步 健身 打篮球 踢足球 打羽毛球 打网球 打乒乓球",
        "Hobby": "看书 读书 阅读 画画 摄影 下棋 做饭 唱歌 跳舞 旅行 旅游 钓鱼 写作 看电影 听音乐 园艺",
        "Season": "春天 夏天 秋天 冬天",
        "Animal": "猫 狗 兔子 鸟",
        "OperatingSystem": "安卓 苹果系统",
        "TransportMode": "火车 高铁 飞机 地铁 公交 自行车 开车 坐火车 坐飞机 坐高铁",
        "ContactChannel": "微信 电话 邮件 短信 电子邮件",
        "Seat": "靠窗 靠过道 靠窗的座位 靠过道的座位 靠窗座位",
    }.items()
    for word in words.split()
}
CHINESE_FAVOURITE_KINDS = {
    "颜色": "Color", "饮料": "Drink", "食物": "Food", "菜": "Food", "水果": "Food", "运动": "Sport", "季节": "Season",
    "动物": "Animal", "音乐": "MusicGenre", "书": "Book", "电影": "Film", "歌": "Song", "歌手": "Musician", "城市": "City",
    "国家": "Country", "编程语言": "ProgrammingLanguage", "编辑器": "Editor", "乐队": "Band", "作家": "Author", "游戏": "Game",
    "餐厅": "Restaurant", "爱好": "Hobby", "数字": "Number",
}  # fmt: skip

ROLE_HEADS = words(
    """
    accountant actor actress administrator advisor adviser analyst architect artist assistant astronaut attorney
    author baker banker barber barista bartender biologist bookkeeper botanist builder butcher carpenter ceo cfo
    chairman chairwoman chef chemist cio clerk coach cmo composer conductor consultant contractor cook coo
    coordinator copywriter counsellor counselor cto curator dancer dentist designer developer dietitian diplomat
    director doctor driver economist editor electrician engineer entrepreneur farmer firefighter fisherman florist
    founder co-founder cofounder freelancer gardener geologist hairdresser historian illustrator inspector
    instructor interpreter journalist judge lawyer lecturer librarian lifeguard linguist manager mathematician
    mechanic midwife model musician nanny neurologist novelist nurse nutritionist officer operator optician painter
    paralegal paramedic pediatrician pharmacist philosopher photographer physician physicist physiotherapist pianist
    pilot plumber poet politician postdoc president principal producer professor programmer psychiatrist
    psychologist publisher radiologist realtor receptionist recruiter referee reporter researcher sailor salesman
    salesperson saleswoman scientist sculptor secretary singer sociologist soldier strategist surgeon surveyor
    tailor teacher technician technologist tester therapist translator treasurer tutor veterinarian vet videographer
    violinist waiter waitress welder writer zoologist apprentice intern trainee student undergraduate lead
    """
)
"""The last word of a job title."""

DIETS = {
    "vegan": "vegan", "vegetarian": "vegetarian", "pescatarian": "pescatarian", "lactose intolerant": "lactose-free",
    "lactose-intolerant": "lactose-free", "gluten-free": "gluten-free", "gluten intolerant": "gluten-free",
    "gluten-intolerant": "gluten-free", "celiac": "gluten-free", "coeliac": "gluten-free", "keto": "keto", "halal": "halal",
    "kosher": "kosher",
}  # fmt: skip
CONDITIONS = frozenset(
    ("diabetes", "asthma", "migraine", "migraines", "hypertension", "epilepsy", "arthritis", "insomnia", "adhd", "anemia",
     "eczema", "tinnitus", "dyslexia", "hypothyroidism", "psoriasis", "hay fever", "high blood pressure", "celiac disease",
     "coeliac disease", "sleep apnea", "type 1 diabetes", "type 2 diabetes")
)  # fmt: skip
CHINESE_CONDITIONS = ("糖尿病", "哮喘", "高血压", "偏头痛", "失眠", "贫血", "关节炎", "癫痫", "湿疹", "鼻炎")
CHINESE_DIETS = {"吃素": "vegetarian", "素食者": "vegetarian", "素食主义者": "vegetarian", "纯素食者": "vegan"}

LANGUAGES = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "portuguese": "pt", "italian": "it", "dutch": "nl",
    "swedish": "sv", "norwegian": "no", "danish": "da", "finnish": "fi", "polish": "pl", "czech": "cs", "slovak": "sk",
    "hungarian": "hu", "romanian": "ro", "bulgarian": "bg", "greek": "el", "turkish": "tr", "russian": "ru",
    "ukrainian": "uk", "arabic": "ar", "hebrew": "he", "persian": "fa", "farsi": "fa", "hindi": "hi", "urdu": "ur",
    "bengali": "bn", "tamil": "ta", "thai": "th", "vietnamese": "vi", "indonesian": "id", "malay": "ms", "japanese": "ja",
    "korean": "ko", "chinese": "zh", "mandarin": "zh", "cantonese": "yue", "swahili": "sw", "catalan": "ca", "basque": "eu",
    "irish": "ga", "welsh": "cy", "croatian": "hr", "serbian": "sr", "slovenian": "sl", "estonian": "et", "latvian": "lv",
    "lithuanian": "lt", "icelandic": "is", "tagalog": "tl", "afrikaans": "af", "esperanto": "eo", "latin": "la",
}  # fmt: skip
"""Names of languages and their BCP 47 tags."""

CHINESE_LANGUAGES = {
    "英语": "en", "英文": "en", "中文": "zh", "汉语": "zh", "普通话": "zh", "粤语": "yue", "法语": "fr", "德语": "de",
    "西班牙语": "es", "葡萄牙语": "pt", "意大利语": "it", "俄语": "ru", "日语": "ja", "韩语": "ko", "阿拉伯语": "ar", "泰语": "th",
    "越南语": "vi", "荷兰语": "nl",
}  # fmt: skip

CHINESE_ROLES = (
    "工程师", "老师", "教师", "医生", "护士", "律师", "设计师", "程序员", "产品经理", "项目经理", "经理", "会计", "记者", "翻译", "教授",
    "研究员", "科学家", "厨师", "司机", "警察", "摄影师", "作家", "画家", "学生", "研究生", "博士生", "大学生", "销售", "总监",
    "首席执行官", "首席技术官", "分析师", "建筑师", "顾问", "秘书", "编辑", "导演", "演员", "歌手", "飞行员", "药剂师", "牙医", "兽医",
    "创始人", "助理", "实习生", "架构师", "运营", "主管", "工人", "农民", "军人", "公务员",
)  # fmt: skip
"""The end of a Chinese job title."""

TOOL_KINDS = frozenset({"Editor", "ProgrammingLanguage", "OperatingSystem"})
"""Kinds of options that are also tools one works with."""

VEHICLES = words(
    """
    car bike bicycle motorbike motorcycle scooter van truck boat campervan camper moped e-bike ebike suv sedan
    convertible yacht tractor
    """
)
MAKES = words(
    """
    tesla toyota honda bmw audi mercedes volkswagen vw ford fiat renault peugeot citroen skoda seat volvo saab
    nissan mazda hyundai kia subaru porsche ferrari jaguar vespa ducati yamaha kawasaki brompton mini jeep dacia
    opel
    """
)
KEEPABLES = words(
    """
    key keys passport passports charger documents certificate wallet umbrella glasses toolbox tools medicine
    insurance contract will deed papers suitcase camera laptop tablet licence license card jewellery jewelry bike
    ladder
    """
)
PHASES = words(
    """
    discovery planning design prototype prototyping development implementation alpha beta testing review rollout
    launch production maintenance pilot research analysis build construction procurement closing evaluation
    """
)
MEDICINES = words(
    """
    metformin insulin ibuprofen aspirin paracetamol acetaminophen lisinopril atorvastatin levothyroxine omeprazole
    amlodipine metoprolol losartan sertraline fluoxetine citalopram escitalopram warfarin prednisone albuterol
    salbutamol antihistamines statins methylphenidate melatonin
    """
)
BREEDS = frozenset(
    {"golden retriever", "labrador", "poodle", "beagle", "chihuahua", "dachshund", "border collie", "german shepherd",
     "husky", "corgi", "pug", "bulldog", "french bulldog", "greyhound", "dalmatian", "boxer", "rottweiler", "siamese",
     "maine coon", "persian", "ragdoll", "british shorthair", "bengal", "mutt", "tabby", "terrier", "jack russell",
     "cocker spaniel", "shiba inu", "samoyed"}
)  # fmt: skip
ALLERGENS = words(
    """
    pollen latex penicillin dust cats dogs bees wasps mold mould nickel aspirin ibuprofen grass ragweed iodine sulfa
    antibiotics amoxicillin codeine perfume
    """
)
"""What a body reacts to that is no food."""
