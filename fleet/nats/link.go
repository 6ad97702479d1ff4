// Package nats connects the event buses of several processes with NATS. It carries live events, which may be
// lost; the store holds all durable ones.
package nats

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Config configures the connection to NATS. All fields but URL may be empty.
type Config struct {
	URL   string // nats:// or tls://, with user:password@ or token@ if needed; several separated by commas
	Creds string // file with a user's JWT and key
	CA    string // file with the CA certificates; "" means the system's
	Cert  string // files with the client certificate and its key
	Key   string
	Name  string // name of the connection on the server; "" means pawl
}

// Limits. Messages beyond them are dropped, and listeners are made to read the store.
const (
	maxQueue       = 8192             // events waiting to be sent
	maxArrived     = 2048             // received messages waiting to be delivered
	maxMessage     = 64 << 10         // bytes of a message; larger events are only announced
	maxUnconfirmed = 10_000           // sessions with unconfirmed messages that are remembered
	confirmEvery   = time.Second      // interval of confirmations by the server
	confirmTimeout = 2 * time.Second  // timeout of a confirmation
	stall          = 10 * time.Second // write timeout after which the connection is given up
	pause          = 250 * time.Millisecond
	jitter         = 500 * time.Millisecond // added to the pause before each connection attempt
)

// Link is the connection of one process to NATS. It is safe for concurrent use. It keeps trying to connect
// while the server is unavailable; until then it carries nothing and never blocks.
type Link struct {
	conn    *client.Conn
	arrived chan *client.Msg
	stop    chan struct{}
	done    sync.WaitGroup
	closing sync.Once

	wakeSender, wakeMaintain, wakeListener chan struct{} // each holds a token while there is work

	mu          sync.Mutex
	queue       []pawl.Event
	unconfirmed map[pawl.SessionID]pawl.Seq // sequence numbers that were sent, or dropped, since the last confirmation
	repeat      bool                        // the notices must be repeated
	renewed     bool                        // the connection is new
	listeners   map[string]*listeners       // listeners by subject; the maps below have the same keys
	changed     map[string]bool             // listeners that were added or removed
	missed      map[string]bool             // listeners that may have missed events

	up                             atomic.Bool // connected; asking the connection itself might block
	sent, received, lost, connects atomic.Int64
}

var _ bus.Link = (*Link)(nil)

// Open returns a link, whether or not the server is available. An invalid config is an error, which never
// includes the URL because it may contain a password.
func Open(c Config) (*Link, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	l := &Link{
		arrived: make(chan *client.Msg, maxArrived), stop: make(chan struct{}),
		wakeSender: make(chan struct{}, 1), wakeMaintain: make(chan struct{}, 1), wakeListener: make(chan struct{}, 1),
		unconfirmed: map[pawl.SessionID]pawl.Seq{}, listeners: map[string]*listeners{}, changed: map[string]bool{}, missed: map[string]bool{},
	}
	conn, err := client.Connect(c.URL, l.options(c)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w; check the URL, credentials and certificates in the fleet configuration", err)
	}
	l.conn = conn
	l.done.Go(l.sender)
	l.done.Go(l.maintain)
	l.done.Go(l.listener)
	return l, nil
}

// check rejects invalid URLs without quoting them.
func check(c Config) error {
	for i, one := range strings.Split(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || (u.Scheme != "nats" && u.Scheme != "tls") || u.Hostname() == "" {
			return fault.New(pawl.ErrInvalid, "NATS URL %d: use nats://host:4222 or tls://host:4222, optionally with user:password@ or token@ before the host", i+1)
		}
	}
	if (c.Cert == "") != (c.Key == "") {
		return fault.New(pawl.ErrInvalid, "a NATS certificate and its key must be set together")
	}
	return nil
}

func (l *Link) options(c Config) []client.Option {
	name := c.Name
	if name == "" {
		name = "pawl"
	}
	options := []client.Option{
		client.Name(name), client.NoEcho(),
		client.RetryOnFailedConnect(true), client.MaxReconnects(-1), client.IgnoreAuthErrorAbort(),
		client.ReconnectWait(pause), client.ReconnectJitter(jitter, jitter),
		client.ReconnectBufSize(-1), // what cannot be sent now is announced later, not sent late
		client.FlusherTimeout(stall), client.ReconnectOnFlusherError(),
		client.PingInterval(stall), client.MaxPingsOutstanding(2),
		client.ConnectHandler(l.connected), client.ReconnectHandler(l.connected),
		client.DisconnectErrHandler(func(*client.Conn, error) { l.up.Store(false) }),
		client.ErrorHandler(l.fault),
	}
	if c.Creds != "" {
		options = append(options, client.UserCredentials(c.Creds))
	}
	if c.CA != "" {
		options = append(options, client.RootCAs(c.CA))
	}
	if c.Cert != "" {
		options = append(options, client.ClientCert(c.Cert, c.Key))
	}
	return options
}

// connected makes all listeners read the store, and repeats unconfirmed notices.
func (l *Link) connected(*client.Conn) {
	l.connects.Add(1)
	l.up.Store(true)
	l.mu.Lock()
	l.renewed, l.repeat = true, true
	l.mu.Unlock()
	wake(l.wakeMaintain)
}

// Close sends what is queued, if there is a server, and closes the link.
func (l *Link) Close() {
	l.closing.Do(func() {
		close(l.stop)
		l.done.Wait()
		l.conn.Close()
		l.up.Store(false)
	})
}

// Connected reports whether there is a connection now.
func (l *Link) Connected() bool { return l.up.Load() }

// Health returns why there is no connection, or nil. Without one, listeners still get all durable events, but
// later, by polling.
func (l *Link) Health() error {
	if l.Connected() {
		return nil
	}
	err := l.conn.LastError()
	if err == nil {
		err = errors.New("no server has answered yet")
	}
	return fmt.Errorf("not connected to NATS: %w; live events are delayed until the connection is restored", err)
}

// Stats counts events since the link was opened.
type Stats struct {
	Sent       int64 // messages passed to the connection
	Received   int64 // messages delivered
	Lost       int64 // events not sent, and messages dropped on arrival or invalid
	Reconnects int64
}

// Stats returns the counts.
func (l *Link) Stats() Stats {
	return Stats{Sent: l.sent.Load(), Received: l.received.Load(), Lost: l.lost.Load(), Reconnects: max(0, l.connects.Load()-1)}
}

// wake leaves a token in ch, if it has none.
func wake(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
