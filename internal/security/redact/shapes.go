package redact

// The characters of tokens.
var (
	alnum     = setOf("")
	word      = setOf("_")
	dashed    = setOf("_-")
	dotted    = setOf("_-.")
	upper     = setOfUpper()
	base64Set = setOf("+/=")
	bearerSet = setOf("_-.~+/=")
)

// shapes are the known formats of credentials. The list is deliberately short: each
// has a prefix that source code does not contain by chance.
var shapes = []shape{
	{mask("anthropic key"), "sk-ant-", token{set: dashed, least: 24}.match},
	{mask("openai key"), "sk-proj-", token{set: dashed, least: 40}.match},
	{mask("openai key"), "sk-svcacct-", token{set: dashed, least: 40}.match},
	{mask("openai key"), "sk-admin-", token{set: dashed, least: 40}.match},
	{mask("openrouter key"), "sk-or-v1-", token{set: alnum, least: 40}.match},
	{mask("api key"), "sk-", token{set: alnum, least: 32, apart: true, digit: true}.match},
	{mask("stripe key"), "sk_live_", token{set: alnum, least: 20}.match},
	{mask("stripe key"), "rk_live_", token{set: alnum, least: 20}.match},
	{mask("github token"), "ghp_", token{set: alnum, least: 36}.match},
	{mask("github token"), "gho_", token{set: alnum, least: 36}.match},
	{mask("github token"), "ghu_", token{set: alnum, least: 36}.match},
	{mask("github token"), "ghs_", token{set: alnum, least: 36}.match},
	{mask("github token"), "ghr_", token{set: alnum, least: 36}.match},
	{mask("github token"), "github_pat_", token{set: word, least: 50}.match},
	{mask("gitlab token"), "glpat-", token{set: dotted, least: 20}.match},
	{mask("slack token"), "xoxb-", token{set: dashed, least: 20, digit: true}.match},
	{mask("slack token"), "xoxp-", token{set: dashed, least: 20, digit: true}.match},
	{mask("slack token"), "xoxa-", token{set: dashed, least: 20, digit: true}.match},
	{mask("slack token"), "xoxr-", token{set: dashed, least: 20, digit: true}.match},
	{mask("slack token"), "xoxs-", token{set: dashed, least: 20, digit: true}.match},
	{mask("slack token"), "xoxe-", token{set: dashed, least: 20, digit: true}.match},
	{mask("slack token"), "xapp-", token{set: dashed, least: 30, digit: true}.match},
	{mask("google key"), "AIza", token{set: dashed, least: 35, most: 35, apart: true}.match},
	{mask("google token"), "ya29.", token{set: dashed, least: 30, apart: true}.match},
	{mask("hugging face token"), "hf_", token{set: alnum, least: 30, apart: true}.match},
	{mask("groq key"), "gsk_", token{set: alnum, least: 40, apart: true}.match},
	{mask("npm token"), "npm_", token{set: alnum, least: 36, most: 36, apart: true}.match},
	{mask("pypi token"), "pypi-AgE", token{set: dashed, least: 50}.match},
	{mask("aws key id"), "AKIA", token{set: upper, least: 16, most: 16, apart: true}.match},
	{mask("aws key id"), "ASIA", token{set: upper, least: 16, most: 16, apart: true}.match},
	{mask("aws secret key"), "aws_secret_access_key", assigned(base64Set, 40, 40)},
	{mask("aws secret key"), "AWS_SECRET_ACCESS_KEY", assigned(base64Set, 40, 40)},
	{mask("aws secret key"), "SecretAccessKey", assigned(base64Set, 40, 40)},
	{mask("aws secret key"), "secretAccessKey", assigned(base64Set, 40, 40)},
	{mask("aws session token"), "aws_session_token", assigned(base64Set, 100, 0)},
	{mask("aws session token"), "AWS_SESSION_TOKEN", assigned(base64Set, 100, 0)},
	{mask("aws session token"), "SessionToken", assigned(base64Set, 100, 0)},
	{mask("token"), "Authorization", authorization},
	{mask("token"), "authorization", authorization},
	{mask("token"), "AUTHORIZATION", authorization},
	{mask("json web token"), "eyJ", webToken},
	{mask("private key"), "-----BEGIN ", privateKey},
	{mask("password"), "://", urlPassword},
}

// set is a set of bytes.
type set [256]bool

// setOf returns the ASCII letters and digits, and others.
func setOf(others string) *set {
	s := setOfUpper()
	for c := 'a'; c <= 'z'; c++ {
		s[c] = true
	}
	for _, c := range []byte(others) {
		s[c] = true
	}
	return s
}

// setOfUpper returns the upper case letters and digits.
func setOfUpper() *set {
	s := &set{}
	for c := 'A'; c <= 'Z'; c++ {
		s[c] = true
	}
	for c := '0'; c <= '9'; c++ {
		s[c] = true
	}
	return s
}

// run returns the end of the run of bytes of the set that begins at i.
func (s *set) run(text string, i int) int {
	for i < len(text) && s[text[i]] {
		i++
	}
	return i
}
