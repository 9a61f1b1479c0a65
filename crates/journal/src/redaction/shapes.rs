//! Credentials that are recognized by their shape, anywhere.
//!
//! A text is looked through once for all rules, and again only for those that match. A rule hides what its group
//! matches.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexSet};

use super::marked;

/// Nothing shorter holds a credential that is known by its shape.
const SHORTEST: usize = 10;
/// Where a word begins: also after an escape that is written out, a colour, and a percent escape.
const BEGIN: &str = r"(?:(?-u:\b)|_|\\[abefnrtv]|\[[0-9;]{1,8}m|%[0-9A-F][0-9A-F])";
/// Follows a truncated credential, which is hidden although it is shorter than a whole one.
const CUT: &str = r#"(?:\\?["'`])?(?:\.\.\.|…)"#;
/// So much of a credential that was cut is worth hiding.
const LEAST_OF_CUT: usize = 6;

/// A kind of credential.
struct Shape {
    /// Its name, in kebab case.
    name: &'static str,
    /// What it matches.
    about: &'static str,
    form: ShapePattern,
}

enum ShapePattern {
    /// A fixed beginning, then at least this many characters of a class.
    Token(&'static str, &'static str, usize),
    /// An expression with one group, which is the secret.
    Pattern(&'static str),
    /// The same, if the text itself decides whether it is one.
    Checked(&'static str, fn(&str, Range<usize>) -> bool),
}

const fn token(
    name: &'static str,
    prefix: &'static str,
    class: &'static str,
    least: usize,
    about: &'static str,
) -> Shape {
    Shape { name, about, form: ShapePattern::Token(prefix, class, least) }
}

const fn pattern(name: &'static str, pattern: &'static str, about: &'static str) -> Shape {
    Shape { name, about, form: ShapePattern::Pattern(pattern) }
}

const ALNUM: &str = "[A-Za-z0-9]";
const WORD: &str = "[A-Za-z0-9_-]";
const HEX: &str = "[0-9a-fA-F]";

/// The rules.
const SHAPES: &[Shape] = &[
    // Keys as files.
    pattern(
        "private-key-block",
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----((?:\s|\\+[nr])+[A-Za-z0-9+/=](?:[^-]|-[^-])*)",
        "a private key in PEM, of OpenSSH or PGP, up to its end or where it was cut",
    ),
    token("age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]", 40, "a secret key of age"),
    token("bitcoin-key", "[xyz]prv", ALNUM, 100, "an extended private key of a wallet"),
    // Clouds.
    token("aws-key-id", "A(?:KIA|SIA|BIA|CCA)", "[A-Z0-9]", 16, "the id of an access key of AWS"),
    pattern(
        "aws-secret",
        r#"(?i-u:secret[_-]?access[_-]?key|aws[_-]?secret(?:[_-]?key)?)\\?["'`\]]{0,2}\s?(?:=>|[:=,])\s?\\?["'`]?([A-Za-z0-9/+]{30,})"#,
        "a secret access key of AWS, behind its name",
    ),
    Shape {
        name: "aws-secret-bare",
        about: "40 characters that look like a secret access key of AWS",
        form: ShapePattern::Checked("([A-Za-z0-9/+]{40,})", is_bare_aws_secret),
    },
    pattern(
        "aws-signature",
        r"(?i-u:X-Amz-(?:Signature|Security-Token|Credential))=([A-Za-z0-9%/+_-]{12,})",
        "what signs an address of AWS",
    ),
    pattern(
        "azure-account-key",
        r"(?i-u:AccountKey|SharedAccessKey|SharedSecretKey)=([A-Za-z0-9+/=%]{16,})",
        "a key in a connection string of Azure",
    ),
    pattern(
        "azure-signature",
        r"(?:[?&;]|(?-u:\b)SharedAccessSignature |sr=[^\s&]+&)(?i-u:sig)=([A-Za-z0-9%+/_=-]{16,})",
        "what signs an address of Azure",
    ),
    pattern(
        "azure-client-secret",
        r"([A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{30,40})",
        "a client secret of Entra",
    ),
    token("google-api-key", "AIza", WORD, 30, "an API key of Google"),
    token("google-access", r"ya29\.", "[A-Za-z0-9_.-]", 16, "an access token of Google"),
    token("google-refresh", "1//0", WORD, 30, "a refresh token of Google"),
    token("google-client-secret", "GOCSPX-", WORD, 20, "a client secret of Google"),
    token("digitalocean", "do[opr]_v1_", HEX, 40, "a token of DigitalOcean"),
    token("heroku", "HRKU-", WORD, 30, "a key of Heroku"),
    token("fly", "f[mo][12]_", "[A-Za-z0-9+/=_-]", 40, "a token of Fly"),
    token("databricks", "dapi", "[0-9a-f]", 32, "a token of Databricks"),
    token("alibaba", "LTAI", ALNUM, 17, "the id of an access key of Alibaba"),
    // Code and packages.
    token("github", "gh[opusr]_", ALNUM, 36, "a token of GitHub"),
    token("github-fine-grained", "github_pat_", "[A-Za-z0-9_]", 36, "a fine-grained token of GitHub"),
    token(
        "gitlab",
        "gl(?:pat|dt|rt|ft|ptt|agent|soat|cbt|imt|oas)-",
        "[A-Za-z0-9_.-]",
        20,
        "a token of GitLab",
    ),
    token("npm", "npm_", ALNUM, 36, "a token of npm"),
    token("pypi", "pypi-AgE", WORD, 16, "a token of PyPI"),
    token("rubygems", "rubygems_", "[0-9a-f]", 40, "a key of RubyGems"),
    token("docker", "dckr_[po]at_", WORD, 20, "a token of Docker Hub"),
    token("atlassian", "ATATT3", "[A-Za-z0-9_=-]", 40, "a token of Atlassian"),
    token("bitbucket", "ATBB", ALNUM, 24, "an app password of Bitbucket"),
    token("terraform", r"[A-Za-z0-9]{14}\.atlasv1\.", WORD, 40, "a token of Terraform"),
    token("vault", r"hv[sbr]\.", WORD, 20, "a token of Vault"),
    token("doppler", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", "[A-Za-z0-9_.]", 30, "a token of Doppler"),
    token("postman", "PMAK-", "[0-9a-f-]", 40, "a key of Postman"),
    token("sonar", "sq[aup]_", "[0-9a-f]", 40, "a token of SonarQube"),
    // Models.
    token("anthropic", "sk-ant-", WORD, 16, "a key of Anthropic"),
    token("openai-project", "sk-(?:proj|svcacct|admin|None)-", WORD, 20, "a key of OpenAI, of a project"),
    token("openrouter", "sk-or-v1-", "[0-9a-f]", 32, "a key of OpenRouter"),
    token("openai", "sk-", ALNUM, 20, "a key of OpenAI, and others that look like it"),
    token("hugging-face", "(?:hf|api_org)_", ALNUM, 30, "a token of Hugging Face"),
    token("groq", "gsk_", ALNUM, 40, "a key of Groq"),
    token("replicate", "r8_", ALNUM, 36, "a token of Replicate"),
    token("perplexity", "pplx-", ALNUM, 40, "a key of Perplexity"),
    token("xai", "xai-", ALNUM, 60, "a key of xAI"),
    token("pinecone", "pcsk_", "[A-Za-z0-9_]", 40, "a key of Pinecone"),
    // Messages, money, and the rest.
    token("slack", "xox[abceoprs]-", "[A-Za-z0-9-]", 10, "a token of Slack"),
    token("slack-app", "xapp-[0-9]-", "[A-Za-z0-9-]", 20, "a token of a Slack app"),
    pattern(
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{8,})",
        "a webhook of Slack",
    ),
    pattern(
        "discord-webhook",
        r"discord(?:app)?\.com/api/webhooks/([0-9]+/[A-Za-z0-9_-]{8,})",
        "a webhook of Discord",
    ),
    pattern("teams-webhook", r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{16,})", "a webhook of Teams"),
    pattern("telegram", r"(?-u:\b)(?:bot)?([0-9]{8,10}:[A-Za-z0-9_-]{35})", "the token of a bot of Telegram"),
    token("stripe", "(?:sk|rk|pk)_(?:live|test)_", ALNUM, 10, "a key of Stripe"),
    token(
        "stripe-webhook",
        "whsec_",
        "[A-Za-z0-9+/=]",
        24,
        "the secret of a webhook, as Stripe and others make it",
    ),
    token("square", "sq0[a-z]{3}-", WORD, 20, "a token of Square"),
    token("shopify", "shp(?:at|ca|pa|ss)_", HEX, 32, "a token of Shopify"),
    token("braintree", r"access_token\$(?:production|sandbox)\$", "[0-9a-z$]", 30, "a token of Braintree"),
    token("sendgrid", r"SG\.", "[A-Za-z0-9_.-]", 40, "a key of SendGrid"),
    token("twilio", "(?:SK|AC)", "[0-9a-f]", 32, "a key or an account of Twilio"),
    token("mailgun", "key-", "[0-9a-f]", 32, "a key of Mailgun"),
    pattern("mailchimp", r"(?-u:\b)([0-9a-f]{32}-us[0-9]{1,2})(?-u:\b)", "a key of Mailchimp"),
    token("brevo", "xkeysib-", "[0-9a-f]", 60, "a key of Brevo"),
    token("new-relic", "NRAK-", "[A-Z0-9]", 24, "a key of New Relic"),
    token("grafana", "gl(?:c|sa)_", "[A-Za-z0-9+/=_]", 32, "a token of Grafana"),
    token("sentry", "sntry[su]_", "[A-Za-z0-9+/=_]", 40, "a token of Sentry"),
    token("linear", "lin_(?:api|oauth)_", ALNUM, 32, "a key of Linear"),
    token("notion", "(?:secret|ntn)_", ALNUM, 40, "a token of Notion"),
    token("figma", "fig[dopu]_", WORD, 30, "a token of Figma"),
    token("airtable", r"pat[A-Za-z0-9]{14}\.", "[0-9a-f]", 40, "a token of Airtable"),
    token("planetscale", "pscale_(?:tkn|pw|oauth)_", "[A-Za-z0-9_.-]", 30, "a token of PlanetScale"),
    token("supabase", "sb[ps]?_(?:secret_)?", ALNUM, 36, "a key of Supabase"),
    token("dropbox", r"sl\.", WORD, 100, "a token of Dropbox"),
    // Forms that anyone may use.
    pattern(
        "jwt",
        r"(?:(?-u:\b)|_|\\[abefnrtv]|m|%[0-9A-F][0-9A-F])(eyJ[A-Za-z0-9_=-]{8,}\.[A-Za-z0-9_=-]{6,}(?:\.[A-Za-z0-9_=-]+){0,3})",
        "a JSON web token, in two parts at least",
    ),
    pattern(
        "authorization",
        r#"(?i-u:authorization)\\?["'`]?\]?\s{0,2}(?:=>|[:=,])\s{0,2}\\?["'`\[]?\\?["'`]?(?i-u:bearer|basic|token|digest|negotiate|apikey|bot)\s+([^\s"'`\\,;{}<>$\[\]][^\s"'`\\,;{}<>\[\]]+)"#,
        "what stands in the header for authorization",
    ),
    pattern(
        "bearer",
        r"(?i-u:\b(?:bearer|basic))\s+([A-Za-z._~+/-]{0,64}[0-9][A-Za-z0-9._~+/=-]{12,})",
        "what stands behind `Bearer` or `Basic` and has digits",
    ),
    pattern(
        "password-in-url",
        r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@?#"'`<>\[\]]*:((?:%[0-9A-Fa-f]{2}|[^\s/@?#"'`<>{}$*\[\]%])[^\s/?#"'`<>\[\]]*)@"#,
        "the password in an address, such as a database's",
    ),
    pattern(
        "token-in-url",
        r"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]{1,30}://([A-Za-z0-9_-]{24,})@",
        "a token in an address, where a user would be",
    ),
    pattern(
        "password-in-dsn",
        r#"(?-u:\b)[A-Za-z0-9_.-]+:([^\s:@/"'`<>{}$*\[\]]+)@(?:tcp|unix)\("#,
        "the password in a database's address, as Go writes it",
    ),
];

/// All rules, to ask once whether a text has any. None only if one cannot be read, which the tests rule out.
static RULES: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(SHAPES.iter().map(expression)).ok());

/// Each of them, to find where it matches. Most are never needed, and building all takes as long as building the set.
static EACH: [OnceLock<Option<Regex>>; SHAPES.len()] = [const { OnceLock::new() }; SHAPES.len()];

fn expression(shape: &Shape) -> String {
    match shape.form {
        ShapePattern::Pattern(pattern) | ShapePattern::Checked(pattern, _) => pattern.to_owned(),
        ShapePattern::Token(prefix, class, least) => {
            format!("{BEGIN}({prefix}{class}{{{least},}})|{BEGIN}({prefix}{class}{{{LEAST_OF_CUT},}}){CUT}")
        }
    }
}

/// Names of the rules, and what they match.
pub(super) fn rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    SHAPES.iter().map(|shape| (shape.name, shape.about))
}

/// The text without them, and how many there were; none where there are none.
pub(super) fn hide(text: &str) -> Option<(String, usize)> {
    if text.len() < SHORTEST {
        return None;
    }
    let all = RULES.as_ref()?;
    // Most texts hold none; asking which takes longer.
    if !all.is_match(text) {
        return None;
    }
    let found = all.matches(text);
    let found = EACH.iter().zip(SHAPES).enumerate().filter(|(rule, _)| found.matched(*rule));
    let found = found.filter_map(|(_, (rule, shape))| {
        let rule = rule.get_or_init(|| Regex::new(&expression(shape)).ok()).as_ref()?;
        Some(secrets_of(rule, &shape.form, text))
    });
    let mut secrets: Vec<Range<usize>> = found.flatten().collect();
    secrets.sort_unstable_by_key(|secret| (secret.start, Reverse(secret.end)));
    let secrets = secrets.into_iter().fold(Vec::new(), joined);
    let count = secrets.len();
    if count == 0 {
        return None;
    }
    Some((marked(text, secrets), count))
}

fn secrets_of(rule: &Regex, form: &ShapePattern, text: &str) -> Vec<Range<usize>> {
    let groups = rule.captures_iter(text).filter_map(|found| found.iter().skip(1).flatten().next());
    let places = groups.map(|secret| secret.range());
    match form {
        ShapePattern::Checked(_, is_secret) => {
            places.filter(|place| is_secret(text, place.clone())).collect()
        }
        ShapePattern::Token(..) | ShapePattern::Pattern(_) => places.collect(),
    }
}

/// How often at least the case changes, or letters and digits, in 40 characters at random. In names it does less often.
const CHANGES: usize = 12;

/// Whether 40 characters are separate and look random: not a path, a name or a part of a longer text.
fn is_bare_aws_secret(text: &str, place: Range<usize>) -> bool {
    let next = |rest: Option<&str>| rest.and_then(|rest| rest.chars().next());
    let before = text.get(..place.start).and_then(|before| before.chars().next_back());
    let stands_alone = before.is_none_or(|char| char.is_whitespace() || "\"'`=:,([{<>".contains(char))
        && next(text.get(place.end..))
            .is_none_or(|char| char.is_whitespace() || "\"'`,;)]}&<>".contains(char));
    let Some(secret) = text.get(place).filter(|secret| stands_alone && secret.len() == 40) else {
        return false;
    };
    let count = |of: fn(&u8) -> bool| secret.bytes().filter(of).count();
    let (upper, lower, digits) =
        (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase), count(u8::is_ascii_digit));
    let has_others = upper + lower + digits < secret.len();
    let kind = |byte: u8| (byte.is_ascii_uppercase(), byte.is_ascii_lowercase(), byte.is_ascii_digit());
    let mut kinds: Vec<_> = secret.bytes().filter(u8::is_ascii_alphanumeric).map(kind).collect();
    kinds.dedup();
    upper >= 4 && lower >= 4 && (digits >= 3 || has_others && digits > 0) && kinds.len() > CHANGES
}

/// What two rules find in one place is one secret.
fn joined(mut secrets: Vec<Range<usize>>, next: Range<usize>) -> Vec<Range<usize>> {
    match secrets.last_mut() {
        Some(last) if next.start < last.end => last.end = last.end.max(next.end),
        _ => secrets.push(next),
    }
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles_and_has_one_group_in_each_branch() {
        assert!(RULES.is_some());
        for shape in SHAPES {
            let groups = Regex::new(&expression(shape)).unwrap().captures_len() - 1;
            let expected = if matches!(shape.form, ShapePattern::Token(..)) { 2 } else { 1 };
            assert_eq!(groups, expected, "{}", shape.name);
            assert!(!shape.about.is_empty());
        }
    }

    #[test]
    fn rule_names_are_unique() {
        let mut names: Vec<&str> = SHAPES.iter().map(|shape| shape.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SHAPES.len());
    }
}
