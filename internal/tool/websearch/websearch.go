// Package websearch implements clients of services that search the web and
// public code.
package websearch

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/egress"
)

// Query is a search query.
type Query struct {
	Text  string
	Count int // maximum number of hits
	// Repo and Lang restrict a code search; "" means all.
	Repo, Lang string
}

// Hit is a search result.
type Hit struct {
	Title   string
	URL     string // "" if the service returns none
	Snippet string
}

// Config selects a service. The zero value means the first one for which an
// environment variable is set.
type Config struct {
	Service string
	URL     string // "" means the service's default
}

// Opener opens services.
type Opener struct {
	Guard  *egress.Guard
	Keys   *auth.Keys
	Getenv func(string) string // nil means os.Getenv
}

// Web returns the service for web searches. If none is configured, it returns
// a service whose errors explain how to do it. An invalid configuration is
// pawl.ErrInvalid.
func (o Opener) Web(c Config) (*Service, error) { return o.open("websearch", web, c) }

// Code returns the service for code searches, like Web.
func (o Opener) Code(c Config) (*Service, error) { return o.open("codesearch", code, c) }

func (o Opener) open(tool string, kinds []kind, c Config) (*Service, error) {
	getenv := o.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	k, ok := choose(kinds, c.Service, getenv)
	switch {
	case !ok && c.Service != "":
		return nil, fault.New(pawl.ErrInvalid, "%s: unknown service %q: use %s", tool, c.Service, ids(kinds))
	case !ok && c.URL != "":
		return nil, fault.New(pawl.ErrInvalid, "%s: name the service that the URL is of: %s", tool, ids(kinds))
	case !ok:
		return unconfigured(tool, kinds), nil
	}
	own := cmp.Or(c.URL, fromEnv(getenv, k.urlVars))
	if cmp.Or(own, k.url) == "" {
		return nil, fault.New(pawl.ErrInvalid, "%s: %s has no address of its own: give its URL", tool, k.id)
	}
	base, err := egress.ParseURL(cmp.Or(own, k.url))
	if err != nil {
		return nil, fault.New(pawl.ErrInvalid, "%s: the URL of %s: %w", tool, k.id, err)
	}
	guard := *o.Guard
	if own != "" { // the user has configured it, so any address is allowed
		guard.Allow = func(host string, _ netip.Addr) bool { return host == base.Hostname() }
	}
	return &Service{
		kind: k, base: base, client: guard.Client(egress.ClientConfig{}),
		key: func() (string, error) { return o.key(k) },
	}, nil
}

// None returns a service that is not configured. tool is websearch or
// codesearch.
func None(tool string) *Service {
	if tool == "codesearch" {
		return unconfigured(tool, code)
	}
	return unconfigured(tool, web)
}

func unconfigured(tool string, kinds []kind) *Service {
	return &Service{missing: fmt.Errorf("%s is not configured: %s", tool, help(tool, kinds))}
}

// choose returns the service with that id or, without one, the first for which
// an environment variable is set.
func choose(kinds []kind, id string, getenv func(string) string) (kind, bool) {
	for _, k := range kinds {
		if k.id == id || id == "" && fromEnv(getenv, append(k.urlVars, k.keyVars...)) != "" {
			return k, true
		}
	}
	return kind{}, false
}

func fromEnv(getenv func(string) string, names []string) string {
	for _, name := range names {
		if value := strings.TrimSpace(getenv(name)); value != "" {
			return value
		}
	}
	return ""
}

// key returns the API key of a service, "" if it needs none.
func (o Opener) key(k kind) (string, error) {
	if len(k.keyVars) == 0 {
		return "", nil
	}
	key, _, err := o.Keys.Key(auth.Provider{ID: k.id, EnvKeys: k.keyVars})
	if errors.Is(err, auth.ErrNoKey) && k.open {
		return "", nil
	}
	return key.Reveal(), err
}

func ids(kinds []kind) string {
	var list []string
	for _, k := range kinds {
		list = append(list, k.id)
	}
	return strings.Join(list, ", ")
}

// help lists the environment variables to set.
func help(tool string, kinds []kind) string {
	var vars []string
	for _, k := range kinds {
		vars = append(vars, append(k.urlVars, k.keyVars...)[0])
	}
	return fmt.Sprintf("ask the user to set one of %s, or %q in pawl.json to a service (%s)", strings.Join(vars, ", "), tool, ids(kinds))
}

// Providers returns the services that need a key, for `pawl auth`.
func Providers() []auth.Provider {
	var out []auth.Provider
	seen := map[string]bool{}
	for _, k := range append(web[:len(web):len(web)], code...) {
		if len(k.keyVars) > 0 && !seen[k.id] {
			seen[k.id] = true
			out = append(out, auth.Provider{ID: k.id, EnvKeys: k.keyVars})
		}
	}
	return out
}

// kind describes a service.
type kind struct {
	id      string
	url     string   // "" if it has no default
	urlVars []string // environment variables for the URL
	keyVars []string // environment variables for the key
	open    bool     // it also works without a key
	request func(base *url.URL, key string, q Query) (*http.Request, error)
	parse   func(base *url.URL, body []byte) ([]Hit, error)
}
