// Package serve implements the commands of the HTTP server: 'pawl serve', 'pawl token' and 'pawl tenant'.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/app/management"
	"github.com/pawl-dev/pawl/internal/cli"
	configcmd "github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// serverFlags are the flags of 'pawl serve'.
type serverFlags struct {
	listen    string
	hosts     []string
	origins   []string
	url       string
	dirs      []string
	cert, key string
	log       string
	drain     time.Duration
	adopt     bool
	link      bool
	rate      int
}

// defaultRate is how many requests per minute a token may send to an address that others can reach.
const defaultRate = 600

// Node is an API node of a fleet: an app whose sessions run on other hosts.
type Node struct {
	App        *app.App
	Workspaces string // the directory of all workspaces
	Adopt      func(ctx context.Context, log *slog.Logger)
	Close      func() error
}

// Command returns 'pawl serve'. With openNode it is the command of a fleet's API
// node; nil means that this process runs the sessions.
func Command(openNode func(ctx context.Context, log *slog.Logger) (*Node, error)) *cobra.Command {
	var f serverFlags
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Start the HTTP server",
		Long: `Start the HTTP server: the API below /v1 (see 'pawl serve openapi'), /healthz, /readyz
and /metrics.

By default, the server listens on a Unix socket that only you can use. With a TCP
address, each request needs a token: PAWL_SERVER_TOKEN, or a token of a user that was
created with 'pawl token create'. Browsers sign in with a link instead: --link prints
one, and 'pawl token link' makes more. On a loopback address, Pawl creates a token and saves
it in its data directory. On other addresses, the server does not start without a token.

Request bodies are limited to 1 MiB, prompts to 48 MiB and imports to 64 MiB, and those
of one token in progress to 64 MiB together. Requests beyond that, or beyond --rate, get
status 413 or 429.

The server resumes interrupted sessions of its directories. On SIGTERM or Ctrl-C it
accepts no new work and waits for running turns (see --drain). Turns that are still
unfinished can be resumed by this or another server on the same store.`,
		Example: `  pawl serve
  pawl run --attach unix "fix the build"
  pawl serve --listen 127.0.0.1:4747 --dir ~/src
  pawl run --attach http://127.0.0.1:4747 "fix the build"
  pawl serve --listen 127.0.0.1:4747 --link
  PAWL_SERVER_TOKEN=… pawl serve --listen 0.0.0.0:4747 --host build.example.com --tls-cert c.pem --tls-key k.pem`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, openNode) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "`address` to listen on: unix, unix:PATH or HOST:PORT (default unix)")
	flags.StringSliceVar(&f.hosts, "host", nil, "additional host `name` to accept in requests (repeatable)")
	flags.StringSliceVar(&f.origins, "origin", nil, "allow requests from web pages of this other `origin`, e.g. https://tools.example.com (repeatable)")
	flags.StringVar(&f.url, "url", "", "`URL` of the server as browsers know it, if a proxy is in front, e.g. https://pawl.example.com")
	flags.StringSliceVar(&f.dirs, "dir", nil, "limit sessions to this `directory` and below (repeatable; default: no limit on a socket, the working directory on a TCP address; not used in a fleet)")
	flags.StringVar(&f.cert, "tls-cert", "", "TLS certificate `file`")
	flags.StringVar(&f.key, "tls-key", "", "TLS private key `file`")
	flags.StringVar(&f.log, "log", "text", "log `format` on standard error: text, json or none")
	flags.DurationVar(&f.drain, "drain", 30*time.Second, "how long to wait for running turns at shutdown")
	flags.IntVar(&f.rate, "rate", 0, fmt.Sprintf("at most `n` requests per minute for tokens without a rate of their own, 0 = no limit (default %d on addresses that others can reach)", defaultRate))
	flags.BoolVar(&f.link, "link", false, "print a link that signs a browser in, with the scope admin; valid once, for 5 minutes")
	flags.BoolVar(&f.adopt, "adopt", true, "resume interrupted sessions, including those of other servers on the same store")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	cmd.AddCommand(serveOpenAPICommand())
	return cmd
}

func (f *serverFlags) run(cmd *cobra.Command, openNode func(ctx context.Context, log *slog.Logger) (*Node, error)) error {
	log, err := NewLogger(cmd.ErrOrStderr(), f.log)
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	place, err := parseListen(f.listen)
	if err == nil {
		err = f.parseOrigins()
	}
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	clients := &presence{log: log}
	fleet := openNode != nil
	var roots access.Roots
	if !fleet {
		if roots, err = f.roots(place); err != nil {
			return err
		}
		openNode = func(ctx context.Context, _ *slog.Logger) (*Node, error) {
			return openLocal(ctx, roots, clients.unattended)
		}
	}
	n, err := openNode(context.WithoutCancel(ctx), log) // it must stay open until all requests have ended
	if err != nil {
		return err
	}
	defer n.Close()
	a := n.App
	auth, err := f.authenticator(ctx, place, a.RawStore, roots)
	if err != nil {
		return err
	}
	if fleet {
		auth.workspaces = n.Workspaces
		if auth.access.Tenants, err = a.Tenants(); err != nil {
			return err
		}
	}
	auth.access.DefaultRate = f.rate
	if !cmd.Flags().Changed("rate") && place.socket == "" && !place.loopback() {
		auth.access.DefaultRate = defaultRate
	}
	auth.access.DefaultMode = func() (string, error) { return defaultMode(a) }
	l, err := place.open(f.cert, f.key)
	if err != nil {
		return err
	}
	place = place.withPort(l)
	base, err := f.base(place)
	if f.link && err != nil {
		return errors.Join(cli.UsageError(cmd, err), l.Close())
	}
	c := f.config(a, auth, place)
	c.RemoteDirs, c.Log = fleet, log
	if !fleet { // the nodes of a fleet are not managed over HTTP
		c.Manage = &management.Manager{Usable: configcmd.Usable, MCP: a.MCP}
	}
	s := httpapi.New(c)
	clients.open(a, s)
	measure(a, s)
	fmt.Fprint(cmd.ErrOrStderr(), place.banner(auth, f.cert != ""))
	if f.link {
		if err := printLink(ctx, cmd.ErrOrStderr(), auth.access, base); err != nil {
			return errors.Join(err, l.Close())
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	if f.adopt {
		go n.Adopt(ctx, log)
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop() // a second signal kills the process
	return f.end(cmd, a, s, log)
}

// config returns the configuration of the HTTP server.
func (f *serverFlags) config(a *app.App, auth authenticator, place listenAddress) httpapi.Config {
	return httpapi.Config{
		Service: func(p api.Principal) pawl.Service { return auth.access.For(a.Service, p) }, Auth: auth.authenticate, Devices: auth.access,
		Missions: mission.Operations{},
		Allow:    auth.allow, WorkspaceDir: auth.workspaceDir(), Hosts: place.hosts(f.hosts), URL: f.url, Origins: f.origins, Version: app.Version,
		Ready:   func(ctx context.Context) error { return ready(ctx, a) },
		Metrics: a.Telemetry.Handler(), Observe: a.Telemetry.Request,
	}
}

// measure reports what the server does.
func measure(a *app.App, s *httpapi.Server) {
	a.Telemetry.Process()
	a.Telemetry.Gauge("pawl.turns.running", "Sessions with a running turn.", "", func() float64 { return float64(turns(a)) })
	a.Telemetry.Gauge("pawl.http.streams", "Open event streams.", "", func() float64 { return float64(s.OpenStreams()) })
}

// parseOrigins checks --origin and --url, and accepts the host of the URL in requests.
func (f *serverFlags) parseOrigins() error {
	for i, text := range f.origins {
		u, err := parseOrigin("origin", text)
		if err != nil {
			return err
		}
		f.origins[i] = u.String()
	}
	if f.url == "" {
		return nil
	}
	u, err := parseOrigin("url", f.url)
	if err == nil {
		f.url, f.hosts = u.String(), append(f.hosts, u.Host)
	}
	return err
}

// base returns the URL at which browsers reach the server.
func (f *serverFlags) base(p listenAddress) (string, error) {
	host, port, _ := net.SplitHostPort(p.address)
	ip, _ := netip.ParseAddr(host)
	switch {
	case f.url != "":
		return f.url, nil
	case p.socket != "":
		return "", errors.New("browsers cannot reach a socket: pass --listen HOST:PORT")
	case ip.IsUnspecified() && len(f.hosts) == 0:
		return "", fmt.Errorf("%s is not an address that a browser can open: pass --url or --host", p.address)
	case ip.IsUnspecified():
		p.address = f.hosts[0]
		if _, _, err := net.SplitHostPort(p.address); err != nil {
			p.address = net.JoinHostPort(strings.Trim(p.address, "[]"), port)
		}
	}
	return p.url(f.cert != ""), nil
}

// openLocal opens an app that runs the sessions of the roots in this process.
func openLocal(ctx context.Context, roots access.Roots, unattended func(time.Time) bool) (*Node, error) {
	allow := func(dir string) error { return allowDir(roots, dir) }
	a, err := app.Open(ctx, app.Options{AllowDir: allow, Unattended: unattended})
	if err != nil {
		return nil, err
	}
	return &Node{App: a, Adopt: func(ctx context.Context, log *slog.Logger) { adopt(ctx, a, log, allow) }, Close: a.Close}, nil
}

// turns returns how many turns run in this process.
func turns(a *app.App) int {
	if a.Runner == nil {
		return 0
	}
	return a.Runner.Busy()
}

// end waits until running turns finish, at most for the time of --drain, and closes the server. Turns that are still
// open can be resumed.
func (f *serverFlags) end(cmd *cobra.Command, a *app.App, s *httpapi.Server, log *slog.Logger) error {
	log.Info("draining", "turns", turns(a), "for", f.drain.String())
	s.Drain()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), f.drain)
	defer cancel()
	if a.Runner == nil { // the workers of the fleet run the turns
		return s.Close(ctx)
	}
	if err := a.Runner.Idle(ctx); err != nil {
		log.Warn("unfinished turns can be resumed", "turns", turns(a))
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(cmd.Context()), closeTime)
	defer cancel()
	return s.Close(ctx)
}

const (
	closeTime = 5 * time.Second // timeout of running requests at shutdown, and of a readiness check
	adoptTime = 5 * time.Second // interval between two scans for interrupted sessions
	adoptMost = 1000            // maximum number of sessions in one scan
)

// adopt resumes interrupted sessions until ctx ends, also those of other processes on the same store that have died, if
// their directories are the server's.
func adopt(ctx context.Context, a *app.App, log *slog.Logger, allow func(dir string) error) {
	for ctx.Err() == nil {
		if err := adoptAll(ctx, a, log, allow); err != nil && ctx.Err() == nil {
			log.Error("find interrupted sessions", "error", err)
		}
		select {
		case <-time.After(adoptTime):
		case <-ctx.Done():
		}
	}
}

func adoptAll(ctx context.Context, a *app.App, log *slog.Logger, allow func(dir string) error) error {
	list, err := a.List(ctx, pawl.Filter{Unfinished: true, Limit: adoptMost})
	for _, s := range list.Sessions {
		if a.Runner.Works(s.ID) || allow(s.Dir) != nil {
			continue
		}
		switch err := a.Resume(ctx, s.ID); {
		case err == nil:
			log.Info("resumed", "session", s.ID)
		case !errors.Is(err, pawl.ErrBusy) && ctx.Err() == nil:
			log.Error("resume", "session", s.ID, "error", err)
		}
	}
	return err
}

// defaultMode returns the permission mode of prompts that name none.
func defaultMode(a *app.App) (string, error) {
	user, err := a.Policy.User()
	return user.Permissions.Mode, err
}

// ready returns an error if the store cannot be reached.
func ready(ctx context.Context, a *app.App) error {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	_, err := a.List(ctx, pawl.Filter{Limit: 1})
	return err
}
