package redact

import (
	"strings"
)

// whole matches the prefix alone.
func whole(_ text, i, j int) (span, verdict) { return span{i, j}, yes }

// token matches a prefix and a run of characters after it.
type token struct {
	set         *set
	least, most int  // characters after the prefix; most 0 means any number
	apart       bool // no letter or digit precedes it
	digit       bool // it has a digit
}

func (t token) match(x text, i, j int) (span, verdict) {
	if t.apart && !apart(x.s, i) {
		return span{}, no
	}
	end := t.set.run(x.s, j)
	if end == len(x.s) && !x.last {
		return span{}, more
	}
	end = j + len(strings.TrimRight(x.s[j:end], ".")) // of the sentence
	body := x.s[j:end]
	if len(body) < t.least || t.most > 0 && len(body) > t.most || !varied(body) || t.digit && !strings.ContainsAny(body, digits) {
		return span{}, no
	}
	return span{i, end}, yes
}

const digits = "0123456789"

// apart reports whether no letter or digit precedes i. The n of an escaped \n, as in
// JSON and source code, does not count as a letter.
func apart(s string, i int) bool {
	return i == 0 || !alnum[s[i-1]] || i > 1 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}

// varied reports whether a text has too many different characters to be a placeholder
// such as xxxxxxxx.
func varied(s string) bool {
	var seen set
	n := 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n >= 8
}

// maxGap bounds the bytes between a name and its value.
const maxGap = 12

// skipGap returns where the value begins that belongs to the name ending at i, or -1.
func skipGap(s string, i int) int {
	end := min(len(s), i+maxGap)
	for i < end && strings.IndexByte(" \t\"'`\\:=>,", s[i]) >= 0 {
		i++
	}
	if i == end && i < len(s) {
		return -1
	}
	return i
}

// assigned matches the value that is assigned to the prefix: name = value.
func assigned(chars *set, least, most int) func(x text, i, j int) (span, verdict) {
	return func(x text, _, j int) (span, verdict) {
		from := skipGap(x.s, j)
		if from < 0 || from == j {
			if from == len(x.s) {
				return x.undecided()
			}
			return span{}, no
		}
		to := chars.run(x.s, from)
		if to == len(x.s) && !x.last {
			return span{}, more
		}
		body := x.s[from:to]
		if len(body) < least || most > 0 && len(body) > most || !mixed(body) {
			return span{}, no
		}
		return span{from, to}, yes
	}
}

// mixed reports whether a text has upper case, lower case and digits, and enough
// different characters to be random.
func mixed(s string) bool {
	return varied(s) && strings.ContainsAny(s, digits) && strings.ToUpper(s) != s && strings.ToLower(s) != s
}

// authorization matches the credential of a request: Authorization: Bearer ….
func authorization(x text, _, j int) (span, verdict) {
	from := skipGap(x.s, j)
	if from < 0 || from == j && from < len(x.s) {
		return span{}, no
	}
	scheme := alnum.run(x.s, from)
	if scheme == len(x.s) {
		return x.undecided()
	}
	switch strings.ToLower(x.s[from:scheme]) {
	case "bearer", "basic", "token":
	default:
		return span{}, no
	}
	from = scheme
	for from < len(x.s) && from < scheme+maxGap && x.s[from] == ' ' {
		from++
	}
	to := bearerSet.run(x.s, from)
	if to == len(x.s) && !x.last {
		return span{}, more
	}
	body := strings.TrimRight(x.s[from:to], ".")
	if from == scheme || len(body) < 16 || !varied(body) || !strings.ContainsAny(body, digits) {
		return span{}, no
	}
	return span{from, from + len(body)}, yes
}

// webToken matches a JSON Web Token: two objects and a signature in base64.
func webToken(x text, i, j int) (span, verdict) {
	if !apart(x.s, i) {
		return span{}, no
	}
	head := dashed.run(x.s, j)
	if head == len(x.s) {
		return x.undecided()
	}
	if head-i < 12 || x.s[head] != '.' {
		return span{}, no
	}
	const next = "eyJ"
	rest := x.s[head+1:]
	if !strings.HasPrefix(rest, next) {
		if strings.HasPrefix(next, rest) {
			return x.undecided()
		}
		return span{}, no
	}
	claims := dashed.run(x.s, head+1)
	if claims == len(x.s) {
		return x.undecided()
	}
	if claims-head < 12 || x.s[claims] != '.' {
		return span{}, no
	}
	end := dashed.run(x.s, claims+1)
	if end == len(x.s) && !x.last {
		return span{}, more
	}
	if end-claims < 16 {
		return span{}, no
	}
	return span{i, end}, yes
}

// The bytes that cannot occur in the user information of a URL, and so end it.
const (
	notUserinfo = "/?#@\"'`<>\\ \t\r\n"
	maxUserinfo = 512
)

// urlPassword matches the password of scheme://user:password@host.
func urlPassword(x text, i, j int) (span, verdict) {
	if i == 0 || !alnum[x.s[i-1]] {
		return span{}, no
	}
	end := strings.IndexAny(x.s[j:min(len(x.s), j+maxUserinfo)], notUserinfo)
	if end < 0 {
		if len(x.s) >= j+maxUserinfo {
			return span{}, no
		}
		return x.undecided()
	}
	end += j
	user, password, ok := strings.Cut(x.s[j:end], ":")
	if x.s[end] != '@' || !ok || standIn(user, password) {
		return span{}, no
	}
	return span{j + len(user) + 1, end}, yes
}

// standIn reports whether a password is a placeholder, as in examples.
func standIn(user, password string) bool {
	if len(password) < 4 || password == user || strings.ContainsAny(password, "${}%*()[]…") {
		return true
	}
	switch p := strings.ToLower(strings.Trim(password, "_-0123456789")); p {
	case "", "pass", "passwd", "password", "pwd", "pw", "secret", "token", "test", "example", "changeme", "foobar", "user", "username", "my_password", "mypassword", "your_password":
		return true
	default:
		return strings.Trim(p, p[:1]) == "" // xxxx
	}
}
