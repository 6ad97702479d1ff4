package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// Boxing puts a program into a sandbox: dir is the workspace, root the directory
// that it starts in.
type Boxing = func(ctx context.Context, dir, root string, args, env []string) (sandbox.Wrapped, error)

// TokenStore keeps what servers on the network were given; auth.Keyring is one.
// Get and Delete return auth.ErrNoKey for what is not there.
type TokenStore interface {
	Get(name string) (auth.Secret, error)
	Set(name string, token auth.Secret) error
	Delete(name string) error
}

var _ TokenStore = auth.Keyring(nil)

// Config is what the servers need. The zero value is useful.
type Config struct {
	Box    Boxing                                      // nil means that programs run as they are
	Guard  *egress.Guard                               // how the network is reached; what may be is the entries' word. nil means the system's way
	Tokens TokenStore                                  // nil means that nobody can log in
	Open   func(ctx context.Context, url string) error // shows an address to a person; nil means OpenBrowser
	Taken  func(name string) bool                      // names that no tool of a server may have; nil means none

	times times
}

// Servers are the MCP servers of this process. Close ends all.
type Servers struct {
	config Config
	base   *Servers // whose servers a directory has too; nil means none

	mu     sync.Mutex
	links  map[string][]*link // by directory, in the order of their names
	closed bool
	ending sync.WaitGroup
}

// New returns a set without servers.
func New(c Config) *Servers {
	if c.times == (times{}) {
		c.times = times{start: startTime, wait: waitTime, pause: firstPause, steady: steadyTime, refresh: refreshPause}
	}
	return &Servers{config: c, links: map[string][]*link{}}
}

// Beside returns a set for somebody who has servers of their own, beside those
// that a directory has in s. Of two of one name, that of s is used. Its Close ends
// its own alone.
func (s *Servers) Beside() *Servers {
	return &Servers{config: s.config, base: s, links: map[string][]*link{}}
}

// Start has these servers run for a directory, and no others: those that run
// already go on, those that are not in the list any more are ended. It does not
// wait for any of them. An error means that the list is wrong and nothing was
// changed.
func (s *Servers) Start(dir string, servers []Server) error {
	if len(servers) > maxServers {
		return fmt.Errorf("start MCP servers: %d are more than %d: %w", len(servers), maxServers, pawl.ErrInvalid)
	}
	names := map[string]bool{}
	for _, server := range servers {
		if err := server.Check(); err != nil {
			return fmt.Errorf("start MCP server %q: %w: %w", short(server.Name, nameBytes), err, pawl.ErrInvalid)
		}
		if names[server.Name] {
			return fmt.Errorf("start MCP server %s: there are two of that name: %w", server.Name, pawl.ErrInvalid)
		}
		names[server.Name] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("start MCP servers: they are closed")
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

// keep returns the server's link: the one that there is, if its entry is the
// same. What is known of the tools of the same program or address is kept.
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
		close(l.gone)
	}
	return l
}

// of returns the links of a directory, in the order of their names.
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
	return nil, fmt.Errorf("there is no MCP server %q here: %w", short(name, nameBytes), pawl.ErrNotFound)
}

// Restart tries a server again that was given up, or that a person has logged
// in to.
func (s *Servers) Restart(dir, name string) error {
	l, err := s.find(dir, name)
	if err == nil {
		l.tryAgain()
	}
	return err
}

// Close ends all servers and returns when nothing of them is left. None is
// started after it.
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
