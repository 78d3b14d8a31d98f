"""Kinds of options, job titles, diets, conditions, languages and what else has a table of its own."""

from __future__ import annotations

from brain.agents.builtin.lexicon import by_name, ordered, words

KIND_OF: dict[str, str] = by_name(
    {
        "Drink": (
            "tea, coffee, espresso, cappuccino, latte, matcha, wine, beer, juice, water, milk, cola, "
            "soda, cocoa, lemonade, whisky, rum, cider, smoothie, kombucha, americano, mocha"
        ),
        "Food": (
            "pizza, pasta, sushi, ramen, curry, cheese, chocolate, bread, rice, salad, soup, steak, "
            "burger, burgers, tacos, noodles, fish, seafood, chicken, beef, pork, tofu, fruit, vegetables, "
            "mushrooms, onions, olives, cilantro, coriander, garlic, ginger, dumplings, hotpot, cake, "
            "cookies, icecream, strawberries, mangoes, mango, apples, bananas, breakfast, dessert, "
            "desserts, sandwiches, kimchi, falafel, hummus, pancakes, peanuts, nuts, eggs, shrimp, "
            "lasagna, risotto, paella, spinach, broccoli, avocado, avocados, oysters, liver"
        ),
        "ColorScheme": "darkmode, lightmode",
        "Color": (
            "red, blue, green, yellow, orange, purple, violet, pink, black, white, grey, gray, brown, "
            "teal, turquoise, indigo, magenta, beige"
        ),
        "Editor": "vim, neovim, emacs, vscode, sublime, pycharm, intellij, helix, nano, jetbrains",
        "ProgrammingLanguage": (
            "python, rust, java, javascript, typescript, go, golang, kotlin, swift, ruby, "
            "haskell, scala, elixir, clojure, perl, php, julia, c++, c#, fortran, cobol, "
            "zig"
        ),
        "OperatingSystem": "linux, windows, macos, ubuntu, debian, fedora, arch, android, ios, freebsd",
        "MusicGenre": (
            "jazz, rock, pop, classical, blues, techno, metal, hiphop, reggae, folk, opera, punk, "
            "country, house, ambient"
        ),
        "Sport": (
            "tennis, football, soccer, basketball, volleyball, swimming, running, cycling, hiking, "
            "climbing, bouldering, yoga, skiing, snowboarding, surfing, golf, badminton, rowing, sailing, "
            "karate, judo, boxing, cricket, rugby, baseball, pilates, jogging, squash"
        ),
        "Hobby": (
            "painting, drawing, photography, gardening, knitting, chess, cooking, baking, reading, "
            "writing, dancing, singing, fishing, camping, pottery, woodworking, birdwatching, astronomy, "
            "gaming, travelling, traveling, origami"
        ),
        "Season": "spring, summer, autumn, winter",
        "Animal": "cats, dogs, horses, rabbits, birds, penguins, elephants",
        "Seat": "aisle, window",
        "ContactChannel": "email, phone, slack, telegram, whatsapp, wechat, signal, sms, teams, zoom",
        "TransportMode": (
            "train, trains, bus, buses, bike, bikes, bicycle, plane, planes, car, cars, metro, "
            "subway, tram, taxi, taxis, ferry, flying, driving, walking"
        ),
        "MeetingTime": "mornings, afternoons, evenings, nights",
        "FileFormat": "pdf, markdown, csv, json, html, docx",
    }
)
"""The kind of option a word names, for `prefers`: options compete only with others of their kind."""

KIND_HEADS: dict[str, str] = by_name(
    {
        "ColorScheme": "mode, theme",
        "Drink": "tea, coffee, wine, beer, juice, water, milk",
        "Food": "food, cuisine, cake, chocolate, cheese, soup, salad, noodles, cream",
        "MusicGenre": "music",
        "Seat": "seat, seats",
        "MeetingFormat": "meetings",
        "ContactChannel": "calls, messages, emails",
        "Lodging": "hotels, hotel",
        "ReadingMatter": "books",
        "FilmGenre": "movies, films",
        "TransportMode": "trains",
        "Flight": "flights",
        "AnswerStyle": "answers, replies, responses, summaries, reports",
        "Keyboard": "keyboard, keyboards",
        "Clothing": "shoes, clothes",
    }
)
"""The kind of an option by its last word: `short answers`, `window seat`."""

FAVOURITE_KINDS: dict[str, str] = by_name(
    {
        "Color": "colour, color",
        "Drink": "drink, tea, coffee, wine, beer",
        "Food": "food, dish, meal, fruit, snack, dessert, cuisine, cake, pizza",
        "Editor": "editor",
        "ProgrammingLanguage": "programming language, language",
        "OperatingSystem": "os, operating system",
        "Sport": "sport",
        "Hobby": "hobby",
        "Season": "season",
        "Animal": "animal",
        "MusicGenre": "music, genre, music genre",
        "Book": "book",
        "Film": "movie, film",
        "Song": "song",
        "Band": "band",
        "Musician": "singer, composer",
        "Author": "author, writer, poet",
        "City": "city",
        "Country": "country",
        "Game": "game",
        "Restaurant": "restaurant",
        "Number": "number",
        "Series": "tv show, show, series",
        "SportsTeam": "team",
        "SchoolSubject": "subject",
        "Flower": "flower",
        "Weekday": "day",
        "IceCreamFlavour": "ice cream",
        "Tool": "tool",
        "App": "app",
        "Website": "website",
        "Spot": "place",
        "Podcast": "podcast",
        "Artist": "artist, painter",
        "Actor": "actor, actress",
        "Cafe": "café, cafe",
    }
)
"""The kind that `my favourite X` speaks of."""

CHINESE_KIND_OF: dict[str, str] = by_name(
    {
        "Drink": (
            "茶, 咖啡, 绿茶, 红茶, 乌龙茶, 奶茶, 牛奶, 果汁, 啤酒, 红酒, 白酒, 可乐, 豆浆, 水, 拿铁, 美式咖啡, 抹茶"
        ),
        "Food": (
            "火锅, 饺子, 面条, 米饭, 寿司, 披萨, 蛋糕, 巧克力, 水果, 苹果, 香蕉, 芒果, 草莓, 榴莲, 香菜, "
            "海鲜, 牛肉, 猪肉, 鸡肉, 辣椒, 川菜, 粤菜, 拉面, 包子, 豆腐, 冰淇淋, 面包, 西瓜, 蘑菇, 洋葱, "
            "大蒜"
        ),
        "ColorScheme": "深色模式, 浅色模式, 暗黑模式, 夜间模式, 深色主题, 浅色主题",
        "Color": "红色, 蓝色, 绿色, 黄色, 橙色, 紫色, 粉色, 黑色, 白色, 灰色, 棕色",
        "MusicGenre": "爵士, 爵士乐, 摇滚, 流行音乐, 古典音乐, 民谣, 嘻哈, 电子音乐, 蓝调",
        "Sport": (
            "游泳, 跑步, 篮球, 足球, 网球, 羽毛球, 乒乓球, 爬山, 登山, 滑雪, 瑜伽, 骑车, 骑自行车, 徒步, "
            "健身, 打篮球, 踢足球, 打羽毛球, 打网球, 打乒乓球"
        ),
        "Hobby": ("看书, 读书, 阅读, 画画, 摄影, 下棋, 做饭, 唱歌, 跳舞, 旅行, 旅游, 钓鱼, 写作, 看电影, 听音乐, 园艺"),
        "Season": "春天, 夏天, 秋天, 冬天",
        "Animal": "猫, 狗, 兔子, 鸟",
        "OperatingSystem": "安卓, 苹果系统",
        "TransportMode": "火车, 高铁, 飞机, 地铁, 公交, 自行车, 开车, 坐火车, 坐飞机, 坐高铁",
        "ContactChannel": "微信, 电话, 邮件, 短信, 电子邮件",
        "Seat": "靠窗, 靠过道, 靠窗的座位, 靠过道的座位, 靠窗座位",
    }
)

CHINESE_FAVOURITE_KINDS: dict[str, str] = by_name(
    {
        "Color": "颜色",
        "Drink": "饮料",
        "Food": "食物, 菜, 水果",
        "Sport": "运动",
        "Season": "季节",
        "Animal": "动物",
        "MusicGenre": "音乐",
        "Book": "书",
        "Film": "电影",
        "Song": "歌",
        "Musician": "歌手",
        "City": "城市",
        "Country": "国家",
        "ProgrammingLanguage": "编程语言",
        "Editor": "编辑器",
        "Band": "乐队",
        "Author": "作家",
        "Game": "游戏",
        "Restaurant": "餐厅",
        "Hobby": "爱好",
        "Number": "数字",
    }
)

PARTS_OF_KINDS: dict[str, frozenset[str]] = {
    "fruit": words("strawberries mangoes mango apples bananas avocado avocados fruit"),
    "dessert": words("cake cookies icecream dessert desserts pancakes"),
    "snack": words("cookies nuts peanuts olives"),
    "tea": words("matcha kombucha"),
    "coffee": words("espresso cappuccino latte americano mocha"),
    "wine": frozenset(),
    "beer": frozenset(),
    "cake": frozenset(),
    "pizza": frozenset(),
}
"""Words for a part of a kind, with the options in it that do not have the word in their name."""

CHINESE_PARTS_OF_KINDS: dict[str, frozenset[str]] = {
    "水果": words("苹果 香蕉 芒果 草莓 榴莲 西瓜"),
}

ROLE_HEADS = words(
    """
    accountant actor actress administrator adviser advisor analyst apprentice architect artist assistant astronaut
    attorney author baker banker barber barista bartender biologist bookkeeper botanist builder butcher carpenter
    ceo cfo chairman chairwoman chef chemist cio clerk cmo co-founder coach cofounder composer conductor consultant
    contractor coo cook coordinator copywriter counsellor counselor cto curator dancer dentist designer developer
    dietitian diplomat director doctor driver economist editor electrician engineer entrepreneur farmer firefighter
    fisherman florist founder freelancer gardener geologist hairdresser historian illustrator inspector instructor
    intern interpreter journalist judge lawyer lead lecturer librarian lifeguard linguist manager mathematician
    mechanic midwife model musician nanny neurologist novelist nurse nutritionist officer operator optician painter
    paralegal paramedic pediatrician pharmacist philosopher photographer physician physicist physiotherapist pianist
    pilot plumber poet politician postdoc president principal producer professor programmer psychiatrist
    psychologist publisher radiologist realtor receptionist recruiter referee reporter researcher sailor salesman
    salesperson saleswoman scientist sculptor secretary singer sociologist soldier strategist student surgeon
    surveyor tailor teacher technician technologist tester therapist trainee translator treasurer tutor
    undergraduate vet veterinarian videographer violinist waiter waitress welder writer zoologist
    """
)
"""The last word of a job title."""

CHINESE_ROLES = ordered(
    """
    工程师 老师 教师 医生 护士 律师 设计师 程序员 产品经理 项目经理 经理 会计 记者 翻译 教授 研究员 科学家 厨师 司机
    警察 摄影师 作家 画家 学生 研究生 博士生 大学生 销售 总监 首席执行官 首席技术官 分析师 建筑师 顾问 秘书 编辑
    导演 演员 歌手 飞行员 药剂师 牙医 兽医 创始人 助理 实习生 架构师 运营 主管 工人 农民 军人 公务员
    """
)
"""The end of a Chinese job title."""

DIETS: dict[str, str] = by_name(
    {
        "vegan": "vegan",
        "vegetarian": "vegetarian",
        "pescatarian": "pescatarian",
        "lactose-free": "lactose intolerant, lactose-intolerant",
        "gluten-free": "gluten-free, gluten intolerant, gluten-intolerant, celiac, coeliac",
        "keto": "keto",
        "halal": "halal",
        "kosher": "kosher",
    }
)
"""How people say what they eat, and the diet it names."""

CHINESE_DIETS: dict[str, str] = by_name(
    {
        "vegetarian": "吃素, 素食者, 素食主义者",
        "vegan": "纯素食者",
        "lactose-free": "乳糖不耐受, 乳糖不耐",
    }
)

CONDITIONS: dict[str, str] = by_name(
    {
        "HealthCondition": (
            "adhd, anemia, arthritis, asthma, celiac disease, coeliac disease, diabetes, "
            "dyslexia, eczema, epilepsy, hay fever, high blood pressure, hypertension, "
            "hypothyroidism, insomnia, migraine, migraines, psoriasis, sleep apnea, tinnitus, "
            "type 1 diabetes, type 2 diabetes"
        ),
    }
)
"""Conditions of body and mind that are kept."""

OF_CONDITIONS: dict[str, str] = {
    "diabetic": "diabetes",
    "asthmatic": "asthma",
    "epileptic": "epilepsy",
    "anemic": "anemia",
    "anaemic": "anemia",
    "dyslexic": "dyslexia",
    "arthritic": "arthritis",
    "hypertensive": "hypertension",
    "celiac": "celiac disease",
    "coeliac": "coeliac disease",
    "insomniac": "insomnia",
}
"""What somebody with a condition is, and the condition."""

CHINESE_CONDITIONS = ordered(
    """
    糖尿病 哮喘 高血压 偏头痛 失眠 贫血 关节炎 癫痫 湿疹 鼻炎
    """
)

LANGUAGES: dict[str, str] = by_name(
    {
        "en": "english",
        "de": "german",
        "fr": "french",
        "es": "spanish",
        "pt": "portuguese",
        "it": "italian",
        "nl": "dutch",
        "sv": "swedish",
        "no": "norwegian",
        "da": "danish",
        "fi": "finnish",
        "pl": "polish",
        "cs": "czech",
        "sk": "slovak",
        "hu": "hungarian",
        "ro": "romanian",
        "bg": "bulgarian",
        "el": "greek",
        "tr": "turkish",
        "ru": "russian",
        "uk": "ukrainian",
        "ar": "arabic",
        "he": "hebrew",
        "fa": "persian, farsi",
        "hi": "hindi",
        "ur": "urdu",
        "bn": "bengali",
        "ta": "tamil",
        "th": "thai",
        "vi": "vietnamese",
        "id": "indonesian",
        "ms": "malay",
        "ja": "japanese",
        "ko": "korean",
        "zh": "chinese, mandarin",
        "yue": "cantonese",
        "sw": "swahili",
        "ca": "catalan",
        "eu": "basque",
        "ga": "irish",
        "cy": "welsh",
        "hr": "croatian",
        "sr": "serbian",
        "sl": "slovenian",
        "et": "estonian",
        "lv": "latvian",
        "lt": "lithuanian",
        "is": "icelandic",
        "tl": "tagalog",
        "af": "afrikaans",
        "eo": "esperanto",
        "la": "latin",
    }
)
"""Names of languages and their BCP 47 tags."""

CHINESE_LANGUAGES: dict[str, str] = by_name(
    {
        "en": "英语, 英文",
        "zh": "中文, 汉语, 普通话",
        "yue": "粤语",
        "fr": "法语",
        "de": "德语",
        "es": "西班牙语",
        "pt": "葡萄牙语",
        "it": "意大利语",
        "ru": "俄语",
        "ja": "日语",
        "ko": "韩语",
        "ar": "阿拉伯语",
        "th": "泰语",
        "vi": "越南语",
        "nl": "荷兰语",
    }
)

TOOL_KINDS = words("Editor ProgrammingLanguage OperatingSystem")
"""Kinds of options that are also tools one works with."""

VEHICLES = words(
    """
    bicycle bike boat camper campervan car convertible e-bike ebike moped motorbike motorcycle scooter sedan suv
    tractor truck van yacht
    """
)

MAKES = words(
    """
    audi bmw brompton citroen dacia ducati ferrari fiat ford honda hyundai jaguar jeep kawasaki kia mazda mercedes
    mini nissan opel peugeot porsche renault saab seat skoda subaru tesla toyota vespa volkswagen volvo vw yamaha
    """
)

KEEPABLES = words(
    """
    bike camera card certificate charger contract deed documents glasses insurance jewellery jewelry key keys ladder
    laptop licence license medicine papers passport passports suitcase tablet toolbox tools umbrella wallet will
    """
)

PHASES = words(
    """
    alpha analysis beta build closing construction design development discovery evaluation implementation launch
    maintenance pilot planning procurement production prototype prototyping research review rollout testing
    """
)

MEDICINES = words(
    """
    acetaminophen albuterol amlodipine antihistamines aspirin atorvastatin citalopram escitalopram fluoxetine
    ibuprofen insulin levothyroxine lisinopril losartan melatonin metformin methylphenidate metoprolol omeprazole
    paracetamol prednisone salbutamol sertraline statins warfarin
    """
)

BREEDS: dict[str, str] = by_name(
    {
        "breed": (
            "beagle, bengal, border collie, boxer, british shorthair, bulldog, chihuahua, cocker spaniel, "
            "corgi, dachshund, dalmatian, french bulldog, german shepherd, golden retriever, greyhound, "
            "husky, jack russell, labrador, maine coon, mutt, persian, poodle, pug, ragdoll, rottweiler, "
            "samoyed, shiba inu, siamese, tabby, terrier"
        ),
    }
)
"""Breeds of dogs and cats."""

ALLERGENS = words(
    """
    amoxicillin antibiotics aspirin bees cats codeine dogs dust grass ibuprofen iodine latex mold mould nickel
    penicillin perfume pollen ragweed sulfa wasps
    """
)
"""What a body reacts to that is no food."""
