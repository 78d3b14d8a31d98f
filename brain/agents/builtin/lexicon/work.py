"""What is scheduled, and what is worked with: words of meetings, releases and tools."""

from __future__ import annotations

from brain.agents.builtin.lexicon import words

SCHEDULED = words(
    """
    launch release rollout go-live golive meeting deadline standup stand-up review demo party wedding conference
    workshop exam interview kickoff kick-off retro retrospective sync call sprint event dinner lunch delivery class
    course training offsite off-site presentation townhall town-hall webinar hackathon opening migration maintenance
    outage appointment reservation concert game match trip holiday flight train ceremony funeral hearing election
    renewal audit inspection handover cutover freeze planning grooming 1:1 one-on-one breakfast checkup surgery
    operation birthday anniversary reunion barbecue bbq
    picnic festival exhibition lecture seminar session briefing visit move relocation
    """
)
"""What has a day or an hour of its own."""

WORK_TOOLS = words(
    """
    postgres postgresql mysql mariadb sqlite mongodb redis kafka rabbitmq kubernetes k8s docker terraform ansible
    jenkins github gitlab bitbucket jira confluence slack notion figma linear asana trello sentry datadog grafana
    prometheus snowflake bigquery airflow dbt spark react vue angular svelte django flask rails node nodejs aws gcp
    azure heroku vercel netlify elasticsearch opensearch clickhouse salesforce hubspot zendesk intercom stripe
    kubernetes helm argocd circleci pytorch tensorflow
    """
)
"""Tools that a team uses and a household does not."""

GROUPS = words("team squad department group crew unit")

CHINESE_SCHEDULED = (
    "发布会|会议|例会|周会|站会|早会|晨会|年会|月会|研讨会|评审会|分享会|同学会|家长会|音乐会|演唱会|运动会|晚会|生日会|董事会|"
    "股东会|招聘会|说明会|见面会|展会|座谈会|讨论会|启动会|复盘会|总结会|婚礼|"
    "考试|面试|面谈|上线|发布|截止日期|截止时间|期限|聚会|聚餐|演出|"
    "比赛|航班|体检|手术|培训|讲座|活动|典礼|开学|团建|评审|验收|交付|预约|课|答辩|演讲|搬迁|维护|割接|冻结|冲刺|复盘"
)
