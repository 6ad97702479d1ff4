package redact

import (
	"net/url"
	"strings"
)

// secretNames are parts of the names of variables and headers that contain a secret.
var secretNames = []string{"api_key", "api-key", "apikey", "token", "secret", "authorization", "cookie", "password"}

func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range secretNames {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// AddEnv adds the secrets of an environment (NAME=value): values that look random, of
// variables whose names suggest a secret. Words, numbers, paths and URLs are not
// added, because they would be masked everywhere.
func (r *Redactor) AddEnv(environ []string) {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if secretName(name) && random(value) {
			r.Add(name, value)
		}
	}
}

// leastRandom is the minimum length of a value that counts as a secret because of its
// variable's name.
const leastRandom = 12

func random(value string) bool {
	return len(value) >= leastRandom && !strings.ContainsAny(value, " \t\r\n") && !strings.HasPrefix(value, "/") && !strings.Contains(value, "://") &&
		strings.ContainsAny(value, digits) && strings.Trim(value, digits+".,-_:") != ""
}

// AddHeaders adds the secrets in the headers of requests to whom.
func (r *Redactor) AddHeaders(whom string, headers map[string]string) {
	for name, value := range headers {
		if !secretName(name) {
			continue
		}
		r.Add(whom+" "+name, value)
		if _, credential, ok := strings.Cut(value, " "); ok { // Bearer …
			r.Add(whom+" "+name, credential)
		}
	}
}

// AddURL adds the password of a URL.
func (r *Redactor) AddURL(what, address string) {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return
	}
	if password, ok := u.User.Password(); ok {
		r.Add(what+" password", password)
	}
}
