package mcpclient

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// Wrapper wraps a program in a sandbox: dir is the workspace, root the
// program's working directory.
type Wrapper = func(ctx context.Context, dir, root string, args, env []string) (sandbox.Wrapped, error)

// TokenStore stores the tokens of servers; auth.Keyring is one. Get and Delete
// return auth.ErrNoKey if there is no such token.
type TokenStore interface {
	Get(name string) (auth.Secret, error)
	Set(name string, token auth.Secret) error
	Delete(name string) error
}

var _ TokenStore = auth.Keyring(nil)

// Config configures the client. The zero value is useful.
type Config struct {
	Sandbox Wrapper                                     // nil means no sandbox
	Guard   *egress.Guard                               // network access; the entries decide which hosts are allowed. nil means the system's
	Tokens  TokenStore                                  // nil means that logins are not possible
	Open    func(ctx context.Context, url string) error // opens a URL for the user; nil means OpenBrowser
	Taken   func(name string) bool                      // whether a tool name is reserved; nil means none is

	times times
}

// Servers manages the MCP servers of this process. Close ends all.
type Servers struct {
	config Config
	base   *Servers // servers that a directory has in addition; nil means none

	mu     sync.Mutex
	links  map[string][]*link // by directory, sorted by name
	closed bool
	ending sync.WaitGroup
}

// New returns an empty set of servers.
func New(c Config) *Servers {
	if c.times == (times{}) {
		c.times = times{start: startTime, wait: waitTime, pause: firstPause, steady: steadyTime, refresh: refreshPause}
	}
	return &Servers{config: c, links: map[string][]*link{}}
}

// Extend returns a set for additional servers, besides those of a directory in
// s. If a name occurs in both, that of s is used. Its Close only ends its own
// servers.
func (s *Servers) Extend() *Servers {
	return &Servers{config: s.config, base: s, links: map[string][]*link{}}
}

// Start makes the given servers run for a directory, and no others: running
// ones continue, and those not in the list are ended. It does not wait. An
// error means that the list is invalid and nothing was changed.
func (s *Servers) Start(dir string, servers []Server) error {
	if len(servers) > maxServers {
		return fault.New(pawl.ErrInvalid, "start MCP servers: too many (%d, the limit is %d)", len(servers), maxServers)
	}
	names := map[string]bool{}
	for _, server := range servers {
		if err := server.Check(); err != nil {
			return fault.New(pawl.ErrInvalid, "start MCP server %q: %w", short(server.Name, nameBytes), err)
		}
		if names[server.Name] {
			return fault.New(pawl.ErrInvalid, "start MCP server %s: duplicate name", server.Name)
		}
		names[server.Name] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("start MCP servers: shutting down")
	}
	var links []*link
	for _, server := range servers {
		links = append(links, s.keep(dir, server))
	}
	for _, old := range s.links[dir] {
		if !slices.Contains(links, old) {
			s.ending.Go(old.end)
		}
	}
	slices.SortFunc(links, byName)
	s.links[dir] = links
	return nil
}

// keep returns the link of a server: the existing one if its entry is
// unchanged. Known tool descriptions of the same program or address are kept.
func (s *Servers) keep(dir string, server Server) *link {
	l := newLink(s.config, dir, server)
	for _, old := range s.links[dir] {
		if old.server.Name != server.Name {
			continue
		}
		if reflect.DeepEqual(old.server, server) {
			return old
		}
		if identity(old.server) == identity(server) {
			old.mu.Lock()
			l.known = maps.Clone(old.known)
			old.mu.Unlock()
		}
	}
	if !server.Disabled {
		go l.run()
	} else {
		l.state = Disabled
		close(l.ended)
	}
	return l
}

// of returns the links of a directory, sorted by name.
func (s *Servers) of(dir string) []*link {
	s.mu.Lock()
	own := s.links[dir]
	s.mu.Unlock()
	if s.base == nil {
		return own
	}
	all := slices.Clone(s.base.of(dir))
	taken := map[string]bool{}
	for _, l := range all {
		taken[l.server.Name] = true
	}
	for _, l := range own {
		if !taken[l.server.Name] {
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, byName)
	return all
}

func byName(a, b *link) int { return strings.Compare(a.server.Name, b.server.Name) }

// find returns the link of a server.
func (s *Servers) find(dir, name string) (*link, error) {
	for _, l := range s.of(dir) {
		if l.server.Name == name {
			return l, nil
		}
	}
	return nil, fault.New(pawl.ErrNotFound, "MCP server %q not found", short(name, nameBytes)).Hint("Run `pawl mcp list` to see all servers.")
}

// Restart retries a server that was given up, or that the user has logged in
// to.
func (s *Servers) Restart(dir, name string) error {
	l, err := s.find(dir, name)
	if err == nil {
		l.tryAgain()
	}
	return err
}

// Close ends all servers and waits until all their processes have ended. No
// server is started after it.
func (s *Servers) Close() {
	s.mu.Lock()
	s.closed = true
	for _, links := range s.links {
		for _, l := range links {
			s.ending.Go(l.end)
		}
	}
	s.links = map[string][]*link{}
	s.mu.Unlock()
	s.ending.Wait()
}
