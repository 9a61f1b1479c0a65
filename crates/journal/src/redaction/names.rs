//! Which names are those of credentials, of environments and of interpreters.

use std::sync::LazyLock;

use regex::Regex;

/// Alone or at the end of a name, these are credentials.
const WORDS: &[&str] = &[
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "authkey",
    "authorization",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "connectionstring",
    "connstr",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "encryptionkey",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "privatekey",
    "pwd",
    "refreshtoken",
    "secret",
    "secretkey",
    "secrets",
    "sessioncookie",
    "sessiontoken",
    "sharedkey",
    "signingkey",
    "token",
];
/// Names in one word that end so are credentials too: `pgpassword`, `authtoken`.
const ENDINGS: &[&str] =
    &["password", "passwd", "passphrase", "secretkey", "apikey", "authtoken", "accesstoken"];
/// What makes a credential of the word `key` after it.
const KEYS: &[&str] = &[
    "access",
    "account",
    "admin",
    "api",
    "app",
    "auth",
    "client",
    "crypto",
    "decryption",
    "deploy",
    "encryption",
    "hmac",
    "host",
    "jwt",
    "license",
    "master",
    "private",
    "secret",
    "service",
    "shared",
    "signing",
    "ssh",
];
/// Two words at the end of a name that are one.
const PAIRS: &[(&str, &str)] = &[
    ("connection", "string"),
    ("conn", "string"),
    ("conn", "str"),
    ("pass", "phrase"),
    ("pass", "word"),
    ("db", "pass"),
    ("smtp", "pass"),
    ("user", "pass"),
];
/// After a credential's name, these say which one it is.
const ADDITIONS: &[&str] = &[
    "again",
    "b64",
    "base64",
    "bytes",
    "confirm",
    "confirmation",
    "current",
    "dev",
    "new",
    "old",
    "plain",
    "plaintext",
    "prod",
    "raw",
    "repeat",
    "str",
    "string",
    "test",
    "text",
    "value",
];
/// Before `token`, these make a word of a parser or a page of it.
const NO_TOKENS: &[&str] = &["max", "min", "num", "eos", "bos", "pad", "unk", "mask", "cls", "sep"];
/// No name is a credential's that has none of these.
static HINTS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("(?i-u)pass|pwd|secret|token|key|credential|authorization|cookie|conn").ok());
/// Longer ones are texts.
const LONGEST: usize = 100;

/// Before `token`, these make a credential of it; without them it may be a parser's.
const TOKENS: &[&str] = &[
    "access", "api", "app", "auth", "bearer", "bot", "client", "csrf", "deploy", "github", "gitlab", "id",
    "jwt", "npm", "oauth", "personal", "private", "pypi", "refresh", "secret", "security", "service",
    "session", "slack", "user", "xsrf",
];

/// How sure a name is to be a credential's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// `password`, `API_KEY`.
    Sure,
    /// `pwd`, `credentials`: a path may have this name, too.
    UnlessPath,
    /// `token`, `next_token`: a parser has names like these.
    IfRandom,
}

/// Whether a name is that of a credential: `password`, `API_KEY`, `clientSecret`, `x-api-key`.
///
/// Whole words count, and the last ones: a `password_length` is none.
pub(super) fn is_credential(name: &str) -> bool {
    certainty(name).is_some()
}

/// How sure a name is to be that of a credential; none where it is not one's.
pub(super) fn certainty(name: &str) -> Option<Certainty> {
    if name.len() < 3 || name.len() > LONGEST || !HINTS.as_ref().is_some_and(|hints| hints.is_match(name)) {
        return None;
    }
    let words = words(name);
    let mut words = words.as_slice();
    while let [rest @ .., last] = words {
        let is_number = last.bytes().all(|byte| byte.is_ascii_digit());
        if rest.is_empty() || !(is_number || ADDITIONS.contains(&last.as_str())) || ends(words) {
            break;
        }
        words = rest;
    }
    ends(words).then(|| match words {
        [.., before, last] if last == "token" && TOKENS.contains(&before.as_str()) => Certainty::Sure,
        [.., last] if last == "token" => Certainty::IfRandom,
        [.., last] if matches!(last.as_str(), "pwd" | "credential" | "credentials") => Certainty::UnlessPath,
        _ => Certainty::Sure,
    })
}

/// Whether the last of the words are those of a credential.
fn ends(words: &[String]) -> bool {
    let [before @ .., last] = words else { return false };
    let last = last.as_str();
    let before = before.last().map(String::as_str);
    match before {
        Some(word) if last == "token" && NO_TOKENS.contains(&word) => false,
        Some(word) if last == "key" => KEYS.contains(&word),
        Some("access" | "session") if last == "tokens" => true,
        Some("access" | "api" | "private" | "secret") if last == "keys" => true,
        Some(word) if PAIRS.contains(&(word, last)) => true,
        _ => {
            WORDS.binary_search(&last).is_ok()
                || ENDINGS.iter().any(|ending| last.len() > ending.len() && last.ends_with(ending))
        }
    }
}

/// The words of a name, in lower case: between other characters, and where capitals begin.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut chars = name.chars().peekable();
    let mut previous = ' ';
    while let Some(char) = chars.next() {
        let is_hump = char.is_uppercase()
            && (previous.is_lowercase()
                || previous.is_ascii_digit()
                || previous.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase()));
        let is_number = char.is_ascii_digit() && !previous.is_ascii_digit() && word != "b" && word != "base";
        if (is_hump || is_number || !char.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        }
        previous = char;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether what an expression gives is a credential: `config.password`, `user["api_key"]`, `get_token()`.
pub(super) fn returns_credential(expression: &str) -> bool {
    is_credential(last_name(expression))
}

/// The name in which an expression ends.
pub(super) fn last_name(expression: &str) -> &str {
    let closed = |char: char| {
        char.is_whitespace() || matches!(char, '(' | ')' | ']' | '"' | '\'' | '`' | ';' | '?' | '!')
    };
    let inner = expression.trim_end_matches(closed);
    let starts = inner.rfind(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '-' | '$')));
    match starts {
        Some(at) => {
            inner.get(at..).unwrap_or_default().trim_start_matches(|char: char| !char.is_alphanumeric())
        }
        None => inner,
    }
}

/// Whether one of the names in an expression is surely that of a credential: `decode(password, 'utf-8')`.
pub(super) fn mentions_credential(expression: &str) -> bool {
    let is_of_name = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$');
    expression.split(|char| !is_of_name(char)).any(|name| certainty(name) == Some(Certainty::Sure))
}

/// Whether a name means an environment: names of variables with their values.
pub(super) fn is_environment(name: &str) -> bool {
    if !has_part(name, &["env"]) {
        return false;
    }
    let plain = plain(name, 24);
    matches!(
        plain.as_str(),
        "env"
            | "envs"
            | "environ"
            | "environment"
            | "envvars"
            | "environmentvariables"
            | "envvariables"
            | "processenv"
            | "osenviron"
            | "extraenv"
            | "launchenv"
    )
}

/// Whether a name means the path of an interpreter.
pub(super) fn is_interpreter(name: &str) -> bool {
    if !has_part(name, &["exec", "interpreter", "node", "python", "runtime"]) {
        return false;
    }
    let plain = plain(name, 24);
    matches!(
        plain.as_str(),
        "executable"
            | "executablepath"
            | "interpreter"
            | "interpreterpath"
            | "nodeexecutable"
            | "nodepath"
            | "python"
            | "pythonexecutable"
            | "pythonpath"
            | "runtimeexecutable"
            | "runtimepath"
            | "sysexecutable"
            | "execpath"
    )
}

/// Whether one of these is in a name, in capitals or not.
fn has_part(name: &str, parts: &[&str]) -> bool {
    let has = |part: &&str| {
        name.as_bytes().windows(part.len()).any(|found| found.eq_ignore_ascii_case(part.as_bytes()))
    };
    name.len() <= LONGEST && parts.iter().any(has)
}

/// The letters of a name in lower case; empty for one that is longer than what it is compared with.
fn plain(name: &str, longest: usize) -> String {
    if name.len() > longest {
        return String::new();
    }
    name.chars().filter(char::is_ascii_alphabetic).map(|char| char.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "\
        password PASSWORD passwd pwd passphrase secret token api_key apiKey APIKey api-key API_KEY \
        X-Api-Key apikey access_key accessKey private_key PrivateKey credential credentials \
        authorization Authorization Proxy-Authorization cookie Set-Cookie session_cookie sessionCookie \
        connection_string connectionString ConnectionString DB_PASSWORD dbPassword PGPASSWORD MYSQL_PWD \
        client_secret clientSecret AWS_SECRET_ACCESS_KEY secretAccessKey access_token accessToken \
        auth_token GITHUB_TOKEN csrfToken password2 new_password password_confirmation passwordText \
        token_value userPassword __password _token #secret ssh-key signing_key encryptionKey JWT_SECRET \
        secrets cookies TOKEN_PROD PASSWORD_B64";
    const OTHERS: &str = "\
        tokenizer tokens_used secretary keyboard max_tokens password_length author key monkey keys \
        primary_key foreignKey cache_key sort_key public_key publicKey tokens token_count tokenType \
        max_token pad_token passwordless password_hash_rounds is_secret_santa authority authorized \
        cookie_count cookieJarSize passed passport compass bypass string connection secret_name \
        token_id_map value text test x credentials_path tokenize detokenizer accessible keyPath pwd_max";

    #[test]
    fn words_are_sorted_for_binary_search() {
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn names_are_classified_by_their_last_words() {
        for name in CREDENTIALS.split(' ') {
            assert!(is_credential(name), "{name}");
        }
        for name in OTHERS.split(' ') {
            assert!(!is_credential(name), "{name}");
        }
        assert!(!is_credential(""));
    }

    #[test]
    fn an_expression_is_classified_by_its_last_part() {
        for expression in [
            "config.password",
            "config['password']",
            "user[\"api_key\"]",
            "os.environ.get('DB_PASSWORD')",
            "get_token()",
            "process.env.SECRET_KEY",
            "this.#token",
            "self._secret ",
            "settings?.apiKey;",
            "password",
        ] {
            assert!(returns_credential(expression), "{expression}");
        }
        for expression in
            ["len(items)", "password == other", "tokens[0].text", "token.kind", "", "a + b", "é"]
        {
            assert!(!returns_credential(expression), "{expression}");
        }
    }

    #[test]
    fn environments_and_interpreters_are_known_by_their_keys() {
        assert!(
            ["env", "environment", "envVars", "ENV", "process.env", "os.environ"]
                .into_iter()
                .all(is_environment)
        );
        assert!(!["envelope", "environments_count", "event", ""].into_iter().any(is_environment));
        let interpreters = ["executablePath", "pythonPath", "runtimeExecutable", "executable_path"];
        assert!(interpreters.into_iter().all(is_interpreter));
        assert!(!["path", "file", "program", "cwd"].into_iter().any(is_interpreter));
    }
}
