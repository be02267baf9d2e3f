"""Makes betterleaks.toml from Betterleaks' own configuration: `python3 renew.py THEIRS > betterleaks.toml`.

It keeps the conditions that judge a secret by its text alone, in a form that needs no interpreter, and
gives each rule a readable name. It reports exemptions that it does not understand, and drops them.
"""

import json
import re
import sys
import tomllib

# These need an id beside the secret, or judge by context; src/secret/own.rs covers them.
LEFT_OUT = {
    "alibaba-secret-key", "alibaba-sts-access-key-secret", "generic-api-key", "generic-credential-uri",
    "generic-password", "ovh-application-secret", "polymarket-api-key",
}
# Ids and public keys are not secrets.
PUBLIC = re.compile(r"-(?:client|access|api)-id$|-pub(?:lic)?-")
# Names for rules whose id does not give a readable one.
NAMES = {
    "age-secret-key": "age secret key",
    "aws-access-token": "AWS access key",
    "aws-amazon-bedrock-api-key-long-lived": "Amazon Bedrock API key",
    "aws-amazon-bedrock-api-key-short-lived": "Amazon Bedrock API key",
    "curl-auth-header": "authorization header of curl",
    "curl-auth-user": "password given to curl",
    "gcp-gemini-api": "Google Gemini API key",
    "github-fine-grained-pat": "GitHub token",
    "github-oauth": "GitHub OAuth token",
    "github-pat": "GitHub token",
    "gitlab-pat": "GitLab token",
    "gitlab-pat-routable": "GitLab token",
    "gitlab-pat-routable-versioned": "GitLab token",
    "gitlab-ptt": "GitLab pipeline trigger token",
    "gitlab-rrt": "GitLab runner registration token",
    "jwt": "JSON web token",
    "jwt-base64": "JSON web token",
    "mongodb-connection-string": "MongoDB connection string",
    "new-relic-browser-api-token": "New Relic browser API token",
    "new-relic-insert-key": "New Relic insert key",
    "new-relic-user-api-key": "New Relic user API key",
    "openshift-user-token": "OpenShift user token",
    "private-key": "private key",
    "pypi-upload-token": "PyPI upload token",
    "slack-webhook-url": "Slack webhook",
}
WORDS = {word.lower().replace(" ", ""): word for word in """
    1Password AD AI API AWS AbuseIPDB AssemblyAI BrowserStack CI CircleCI ClickHouse ClickUp CockroachLabs
    CodeCov ConfigCat DataStax DigitalOcean DroneCI EasyPost ElevenLabs FreshBooks FullStory GitHub GitLab GoCardless
    HubSpot IBM InfluxDB JumpCloud JWT KuCoin LabelBox LangChain LangSmith LaunchDarkly LightOn LinkedIn MailChimp
    MailerSend MaxMind MessageBird MiniMax MongoDB NuGet NVIDIA NYTimes OAuth OneSignal OpenAI OpenRouter OpenWeather
    OpsGenie OVH PagerDuty PayPal PlanetScale PostHog PrivateAI RapidAPI README RubyGems RunPod SCIM SDK SSLMate
    SendGrid SettleMint ServiceBus SumoLogic TogetherAI TravisCI TypeForm UpCloud VirusTotal VoyageAI WakaTime
    WeatherStack WooCommerce WorkOS XAI ZAI npm
    """.split()} | {
    "ca": "CA", "cicd": "CI", "crates": "Rust registry", "datagov": "data.gov", "deepseek": "DeepSeek", "dockerhub": "Docker Hub",
    "ebay": "eBay", "fal": "fal", "flyio": "Fly.io", "frameio": "Frame.io", "gcp": "Google Cloud", "hashicorp": "HashiCorp",
    "huggingface": "Hugging Face", "io": "", "llama": "Llama", "pat": "personal access token", "personnal": "personal",
    "pub": "public", "sendinblue": "Brevo", "tf": "Terraform", "val": "Val", "xai": "xAI", "zai": "Z.ai",
}
SPOKEN_WITH_A_VOWEL = ("npm", "NVIDIA", "NYTimes", "SSLMate", "xAI")


def name(rule):
    rule = re.sub(r"\.\d+$", "", rule)
    words = rule.split("-")
    words = [WORDS.get(it, it if at else it.capitalize()) for at, it in enumerate(words)]
    said = NAMES.get(rule) or " ".join(it for it in words if it)
    vowel = said.startswith(SPOKEN_WITH_A_VOWEL) or said[0] in "AEIOUaeiou" and not said.startswith("One")
    return ("an " if vowel else "a ") + said


def rust(pattern):
    """Converts RE2's dialect to Rust's: escapes braces that count nothing, and brackets within brackets."""
    out, at, inside = "", 0, False
    while at < len(pattern):
        here = pattern[at]
        if here == "\\":
            out += pattern[at:at + 2]
            at += 2
            continue
        if inside:
            posix = re.match(r"\[:\w+:\]", pattern[at:])
            if posix:
                out += posix[0]
                at += len(posix[0])
                continue
            first = out.endswith(("[", "[^"))
            inside = here != "]" or first
            out += "\\" + here if here in "[&~" or here == "]" and first else here
        elif here == "[":
            inside, out = True, out + here
        elif here == "{" and not re.match(r"\{\d+(,\d*)?\}", pattern[at:]):
            out += "\\{"
        else:
            out += here
        at += 1
    return out


def secret_first(pattern):
    """Makes the first capture group hold the whole secret; named and repeated groups hold only a part."""
    out, at, inside, open_at = "", 0, False, []
    while at < len(pattern):
        width = 2 if pattern[at] == "\\" else 1
        here = pattern[at:at + width]
        if inside:
            inside = here != "]"
        elif here == "[":
            inside = True
        elif here == "(":
            open_at.append(len(out))
            named = re.match(r"\(\?P<\w+>", pattern[at:])
            if named:
                here, width = "(?:", named.end()
        elif here == ")":
            start = open_at.pop()
            if pattern[at + 1:at + 2] in ("{", "*", "+") and not out.startswith("(?", start):
                out = out[:start] + "(?:" + out[start + 1:]
        out += here
        at += width
    return out


SETS = r"""(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}("""
ENDS = r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)"""


def bare(pattern, keywords):
    """Drops the vendor's name before a value that has a prefix of its own."""
    _, sets, value = pattern.partition(SETS)
    prefix = re.match(r"(?:[A-Za-z0-9_-]|\\[.+])*", value)[0].replace("\\", "")
    telling = re.fullmatch(r"(?!ey|access|key|live|apikey)(?:.{4,}|.*\.)", prefix)
    if not (sets and telling and value.endswith(")" + ENDS)):
        return pattern, keywords
    flags = "(?i)" if pattern.startswith("(?i)") else ""
    return f"{flags}\\b({value}", [prefix.lower()]


def split(filter):
    """Splits at each `||` outside of strings and brackets."""
    filter = re.sub(r"(?m)^\s*//.*$", "", filter)
    clauses, depth, start, at = [], 0, 0, 0
    while at < len(filter):
        quoted = re.compile(r'`[^`]*`|"(?:\\.|[^"\\])*"').match(filter, at)
        if quoted:
            at = quoted.end()
            continue
        depth += filter[at] in "([{"
        depth -= filter[at] in ")]}"
        if depth == 0 and filter.startswith("||", at) or filter[at] == ";":
            clauses.append(filter[start:at])
            at = start = at + (2 if filter[at] == "|" else 1)
            continue
        at += 1
    return [it.strip() for it in clauses + [filter[start:]] if it.strip()]


def excuses(rule, filter):
    kept = {}
    for clause in split(filter):
        entropy = re.fullmatch(r'entropy\(finding\["secret"\]\) (<=?) ([\d.]+)', clause)
        call = re.fullmatch(r'(!?)(matches|contains)Any\(finding\["secret"\], \[(.*)\]\)', clause, re.S)
        if entropy:
            kept["above" if entropy[1] == "<=" else "least"] = float(entropy[2])
        elif clause.startswith('tokenRatio(finding["secret"]) >='):
            kept["no_words"] = True
        elif call:
            texts = re.findall(r'`[^`]*`|"(?:\\.|[^"\\])*"', call[3])
            texts = [it[1:-1] if it[0] == "`" else json.loads(it) for it in texts]
            # Keys that vendors publish would look like leaks here too.
            texts = [it for it in texts if not it.startswith("AIza")]
            texts = [re.escape(it) if call[2] == "contains" else rust(it) for it in texts]
            kept.setdefault("only" if call[1] else "unless", []).extend(texts)
        elif 'attributes["path"]' not in clause:
            print(f"{rule}: excuses nothing: {clause}", file=sys.stderr)
    return kept


def literal(value):
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, str):
        return f"'{value}'" if "'" not in value else f"'''{value}'''"
    return str(value).lower()


def show(fields):
    print("".join(f"\n{key} = {literal(value)}" for key, value in fields.items() if value not in ("", [])))


def main():
    theirs = tomllib.load(open(sys.argv[1], "rb"))
    print("# Rules of Betterleaks (MIT, see LICENSE), made by renew.py: see README.md.", end="")
    show({"unless": excuses("all", theirs["filter"].strip().removeprefix("(").removesuffix(")"))["unless"]})
    for rule in theirs["rules"]:
        if rule.get("skipReport") or "path" in rule or rule["id"] in LEFT_OUT:
            continue
        if PUBLIC.search(rule["id"]):
            continue
        pattern, keywords = bare(rule["regex"], rule["keywords"])
        print("\n[[rules]]", end="")
        show({
            "name": name(rule["id"]),
            "pattern": rust(pattern if "valueGroup" in rule else secret_first(pattern)),
            "keywords": keywords,
            "group": rule.get("valueGroup", ""),
        } | excuses(rule["id"], rule.get("filter", "")))


main()
