"""Given names and the words for relatives, acquaintances and pets."""

from __future__ import annotations

from brain.agents.builtin.lexicon import by_name, ordered, words

GIVEN_NAMES = words(
    """
    aaron abdul abigail adam adele adrian agnes ahmed aisha alan albert alejandro alex alexander alexandra alexei
    alfred ali alice alicia alina alison amal amanda amelia amina amir amy ana anastasia andre andrea andreas andrew
    andy angela anita anja ann anna anne annie anthony antonio anya arjun arthur asha astrid aurora ava axel barbara
    beatrice beatriz ben benjamin bernard beth bettina bianca bill bjorn bob boris brenda brian bruce bruno camila
    camille carl carla carlos carmen carol caroline catherine cecilia celine charles charlie charlotte chen chiara
    chloe chris christian christina christine christopher claire clara claudia clement colin connor craig cristina
    cynthia daisuke dan dana daniel daniela dave david deborah denis dennis diana diego dieter dmitri dominic donald
    dora doris dorothy dylan edgar edith eduardo edward eleanor elena eli elias elif elisa elizabeth ella ellen
    elliot emil emilia emily emma enrique eric erica erik erin ernst esther ethan eugene eva evan eve evelyn fabian
    fatima felipe felix fernando filip finn fiona florian frances francesca francesco francis francisco frank fred
    frederick frida friedrich fritz gabriel gabriela gareth gary george georgia gerald gianni gina giorgio giovanni
    giulia gloria grace graham greg greta guido gustav hana hannah hans harold harry hassan heather hector heidi
    helen helena henri henrik henry hiroshi hugo ian ibrahim igor ilse ines ingrid irene irina iris isaac isabel
    isabella ivan ivy jack jacob jacques james jamie jan jane janet jason javier jean jeff jennifer jenny jeremy
    jerry jesse jessica jill jim jin joan joana joanna joe joel johan johann johanna john jonas jonathan jordan
    jorge jose joseph joshua juan juana judith judy juha julia julian julie juliette julius jun jurgen justin kaito
    karen karim karin karl karla kate katharina katherine kathy katie katja keiko keith kelly ken kenji kevin khalid
    kim kirsten klaus kristina kurt lara larry lars laura lauren laurent layla lea leah leila lena leo leon leonard
    leonie leslie lewis li lia liam lidia lila lily lina linda linus lisa liu lorenzo louis louise luca lucas lucia
    lucy luis luisa lukas luke luna lydia lynn maeve magnus mai maja malik manuel mara marc marco marcus margaret
    maria mariam mariana marie marina mario marion marta martha martin martina mary mateo matilda matt matteo
    matthew matthias maurice max maya megan mei melanie melissa mia michael michel michelle miguel mika mike mikhail
    mila milan milena miriam mohamed mohammed molly monica monika mustafa nadia nadine nancy naomi natalia natalie
    natasha nathan neil nicholas nick nicolas nicole nikolai nils nina noah noor nora norma olaf oleg olga oliver
    olivia omar oscar otto owen pablo pamela paolo patricia patrick paul paula paulo pavel pedro penny pete peter
    petra phil philip philippe pierre pilar priya quentin rachel rafael rahul raj ralph ramon rana raquel raul ravi
    raymond rebecca renata rene ricardo richard rick rita rob robert roberto robin rodrigo roger roland roman ronald
    rosa rose ruben rui rupert ruth ryan sabine sadia sally sam samantha samir samuel sandra sanjay sara sarah scott
    sean sebastian selim serena sergei sergio seth shirin sibel silvia simon simone sofia sofie sonia sonja sophia
    sophie stefan stefanie stella stephanie stephen steve steven stuart sue susan sven svetlana sylvia takashi
    tamara tania tanja tara tariq tatiana ted teresa theo theresa thomas tilda tim timothy tina tobias todd tom
    tomas toni tony tracy tristan ulrich umar ursula valentina valerie vanessa vera veronica victor victoria viktor
    viktoria vincent violet wang wei wendy werner will william wolfgang xavier xiao yan yara yasmin yolanda yuki
    yusuf yves zahra zara zhang zoe zoltan
    """
)
"""First names common somewhere, in lower case: what makes a capital at the head of a sentence a person."""

RELATIVES: dict[str, str] = by_name(
    {
        "sibling": (
            "sister, brother, sibling, twin sister, twin brother, half-sister, half-brother, "
            "stepsister, stepbrother, little sister, little brother, older sister, older brother, "
            "younger sister, younger brother, big sister, big brother, elder sister, elder brother"
        ),
        "parent": "mother, father, mom, mum, dad, parent, stepmother, stepfather",
        "child": (
            "daughter, son, child, kid, stepdaughter, stepson, oldest daughter, oldest son, "
            "youngest daughter, youngest son, older daughter, older son, younger daughter, younger son, "
            "baby daughter, baby son"
        ),
        "spouse": "wife, husband, spouse",
        "partner": "girlfriend, boyfriend, partner, fiancé, fiancée, fiance, fiancee",
        "relative": (
            "cousin, aunt, uncle, niece, nephew, grandmother, grandfather, grandma, grandpa, "
            "granddaughter, grandson, mother-in-law, father-in-law, sister-in-law, brother-in-law, "
            "son-in-law, daughter-in-law"
        ),
        "friend": "friend, best friend, good friend, close friend, old friend",
        "colleague": "colleague, coworker, co-worker, workmate, teammate, team-mate",
        "manager": "boss, manager, supervisor, line manager",
        "acquaintance": (
            "neighbour, neighbor, roommate, flatmate, housemate, classmate, mentor, landlord, "
            "landlady, teacher, doctor, dentist, therapist, lawyer, accountant, trainer"
        ),
    }
)
"""What a person is to another, by the noun: `my sister Mia` relates the speaker to Mia as `sibling`."""

FEMALE = words(
    """
    aunt daughter daughter-in-law fiancee fiancée girlfriend granddaughter grandma grandmother landlady mom mother
    mother-in-law mum niece sister sister-in-law stepdaughter stepmother stepsister wife
    """
)

MALE = words(
    """
    boyfriend brother brother-in-law dad father father-in-law fiance fiancé grandfather grandpa grandson husband
    landlord nephew son son-in-law stepbrother stepfather stepson uncle
    """
)

PETS: dict[str, str] = by_name(
    {
        "dog": "dog, puppy",
        "cat": "cat, kitten",
        "parrot": "parrot",
        "rabbit": "rabbit, bunny",
        "hamster": "hamster",
        "goldfish": "goldfish",
        "horse": "horse",
        "pony": "pony",
        "turtle": "turtle",
        "tortoise": "tortoise",
        "guinea pig": "guinea pig",
        "canary": "canary",
        "budgie": "budgie",
        "ferret": "ferret",
        "golden retriever": "golden retriever",
        "labrador": "labrador",
        "poodle": "poodle",
        "beagle": "beagle",
        "chihuahua": "chihuahua",
        "dachshund": "dachshund",
        "pet": "pet",
    }
)
"""Animals kept at home, each with the species its claim names."""

CHINESE_RELATIVES: dict[str, str] = by_name(
    {
        "sibling": "妹妹, 姐姐, 哥哥, 弟弟, 姐, 妹, 哥, 弟, 表妹夫",
        "parent": "妈妈, 爸爸, 母亲, 父亲, 妈, 爸",
        "child": "女儿, 儿子, 孩子, 大女儿, 小女儿, 大儿子, 小儿子",
        "spouse": "妻子, 老婆, 太太, 丈夫, 老公, 先生, 爱人",
        "partner": "女朋友, 男朋友, 女友, 男友, 未婚妻, 未婚夫",
        "relative": (
            "表姐, 表妹, 表哥, 表弟, 堂姐, 堂妹, 堂哥, 堂弟, 叔叔, 阿姨, 舅舅, 姑姑, 外婆, 外公, 奶奶, "
            "爷爷, 侄子, 侄女, 外甥, 外甥女"
        ),
        "friend": "朋友, 好朋友, 闺蜜, 好友, 最好的朋友",
        "colleague": "同事, 搭档",
        "manager": "老板, 上司, 经理, 领导, 主管",
        "acquaintance": "邻居, 室友, 同学, 老师, 医生, 房东, 导师, 律师",
    }
)

CHINESE_PETS: dict[str, str] = by_name(
    {
        "狗": "狗, 小狗, 狗狗",
        "猫": "猫, 小猫, 猫咪",
        "兔子": "兔子",
        "仓鼠": "仓鼠",
        "鹦鹉": "鹦鹉",
        "乌龟": "乌龟",
        "金鱼": "金鱼",
        "宠物": "宠物",
    }
)

SURNAMES = frozenset(
    "丁万严于付任何余侯冯刘卢史叶向吕吴周唐夏姚姜孔孙孟宋尹崔廖张彭徐戴方曹曾朱李杜杨林梁武段毛江汤汪沈潘"
    "熊王田白石秦程罗肖胡苏范莫董蒋蔡薛袁覃许谢谭贺贾赵邓邱邵邹郑郝郭金钟钱闫陆陈陶雷韦韩顾马高魏黄黎龙龚"
    ""
)
"""Family names of one character."""

DOUBLE_SURNAMES = ordered("欧阳 司马 上官 诸葛 司徒 夏侯 慕容 令狐")
