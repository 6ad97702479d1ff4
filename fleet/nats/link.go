// Package nats links the buses of several processes with NATS. It carries live
// events, which may be lost; the store has what matters.
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
)

// Config says where NATS is and who we are to it. All but URL may be empty.
type Config struct {
	URL   string // nats:// or tls://, with user:password@ or token@ if need be; several with commas
	Creds string // a file with a user's JWT and key
	CA    string // a file with the certificates that the server's is checked against; "" means the system's
	Cert  string // files with the certificate that shows who we are, and its key
	Key   string
	Name  string // what the server calls this connection; "" means pawl
}

// Limits. What does not fit is dropped, and the readers are told to look.
const (
	maxQueue   = 8192             // events that wait to be sent
	maxArrived = 2048             // messages that wait to be shown
	maxMessage = 64 << 10         // bytes of a message; an event that is larger is only told of
	maxUnsure  = 10_000           // sessions of which is remembered what the server may not have got
	beat       = time.Second      // how often the server is asked whether it has what was sent
	roundTrip  = 2 * time.Second  // how long it may take to answer
	stall      = 10 * time.Second // how long it may take nothing before the connection is given up
	pause      = 250 * time.Millisecond
	jitter     = 500 * time.Millisecond // added to the pause before each try to connect
)

// Link is one process's connection to NATS. It is safe for concurrent use.
// A server that is not there is tried for until there is one; meanwhile nothing
// is carried and nothing blocks.
type Link struct {
	conn    *client.Conn
	arrived chan *client.Msg
	stop    chan struct{}
	done    sync.WaitGroup
	closing sync.Once

	wakeSender, wakeKeeper, wakeListener chan struct{} // each holds a token while there is something to do

	mu      sync.Mutex
	queue   []pawl.Event
	unsure  map[pawl.SessionID]pawl.Seq // heads that were sent, or dropped, since the server last answered
	repeat  bool                        // the others must be told of them again
	renewed bool                        // the connection is a new one
	ears    map[string]*ear             // by subject, as these are
	changed map[string]bool             // who came or went
	missed  map[string]bool             // who must be told that something may have been missed

	up                             atomic.Bool // there is a server; asking the connection might block
	sent, received, lost, connects atomic.Int64
}

var _ bus.Link = (*Link)(nil)

// Open returns a link, whether or not there is a server yet. A config that cannot
// work is an error, which never shows the URL: there may be a password in it.
func Open(c Config) (*Link, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	l := &Link{
		arrived: make(chan *client.Msg, maxArrived), stop: make(chan struct{}),
		wakeSender: make(chan struct{}, 1), wakeKeeper: make(chan struct{}, 1), wakeListener: make(chan struct{}, 1),
		unsure: map[pawl.SessionID]pawl.Seq{}, ears: map[string]*ear{}, changed: map[string]bool{}, missed: map[string]bool{},
	}
	conn, err := client.Connect(c.URL, l.options(c)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w; look at the URL, the credentials and the certificates in the fleet's settings", err)
	}
	l.conn = conn
	l.done.Go(l.sender)
	l.done.Go(l.keeper)
	l.done.Go(l.listener)
	return l, nil
}

// check refuses URLs that say nothing. It does not repeat them.
func check(c Config) error {
	for i, one := range strings.Split(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || (u.Scheme != "nats" && u.Scheme != "tls") || u.Hostname() == "" {
			return fmt.Errorf("%w: NATS URL %d: want nats://host:4222 or tls://host:4222, with user:password@ or token@ before the host if need be", pawl.ErrInvalid, i+1)
		}
	}
	if (c.Cert == "") != (c.Key == "") {
		return fmt.Errorf("%w: a certificate for NATS needs its key, and a key its certificate: give both or none", pawl.ErrInvalid)
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
		client.ReconnectBufSize(-1), // what cannot be sent now is told of later, and not sent late
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

// connected has all that listen look at the store, and those who may have missed
// what was sent from here told of it.
func (l *Link) connected(*client.Conn) {
	l.connects.Add(1)
	l.up.Store(true)
	l.mu.Lock()
	l.renewed, l.repeat = true, true
	l.mu.Unlock()
	wake(l.wakeKeeper)
}

// Close sends what waits, if there is a server, and ends the link.
func (l *Link) Close() {
	l.closing.Do(func() {
		close(l.stop)
		l.done.Wait()
		l.conn.Close()
		l.up.Store(false)
	})
}

// Connected reports whether there is a server now.
func (l *Link) Connected() bool { return l.up.Load() }

// Health returns why there is no server, or nil if there is one. Without it
// readers still get all that is durable, but late: when they poll.
func (l *Link) Health() error {
	if l.Connected() {
		return nil
	}
	err := l.conn.LastError()
	if err == nil {
		err = errors.New("no server has answered yet")
	}
	return fmt.Errorf("no connection to NATS: %w; live events come late until there is one: start the server, or look at the fleet's settings", err)
}

// Stats counts what a link did since it was opened.
type Stats struct {
	Sent       int64 // messages that were given to the connection
	Received   int64 // messages that were shown
	Lost       int64 // events that were not sent, and messages that were dropped on arrival or made no sense
	Reconnects int64
}

// Stats returns the counts.
func (l *Link) Stats() Stats {
	return Stats{Sent: l.sent.Load(), Received: l.received.Load(), Lost: l.lost.Load(), Reconnects: max(0, l.connects.Load()-1)}
}

// wake leaves a token for who waits for one.
func wake(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
