// Package webhook tells another program, over HTTP, how missions end and when they wait for an answer.
//
// A notice is on disk before it is sent, and is removed once it was answered or has failed twice, which is reported, so that
// the next process sends what a killed one has left. The id of a notice is that of its event: receivers recognize one that
// they have seen. A kill in the moment between the event and the file loses the notice.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// Limits of a notice.
const (
	timeout   = 5 * time.Second // of one attempt
	pause     = time.Second     // before the second attempt, which is the last
	maxReason = 500             // bytes
	maxLeft   = 100             // notices of killed processes that are sent
	maxNotice = 16 << 10        // bytes of one
	leftAfter = time.Minute     // a notice that is older belongs to a killed process
)

// Notice is the JSON object that is sent.
type Notice struct {
	ID      string         `json:"id"`    // the same whenever the notice is sent
	Event   string         `json:"event"` // sealed, planned, paused, blocked, stopped or waiting
	Mission pawl.SessionID `json:"mission"`
	Session pawl.SessionID `json:"session"` // of the mission, or of the worker that waits
	Dir     string         `json:"dir"`
	At      time.Time      `json:"at"`
	Commit  string         `json:"commit,omitempty"` // that was sealed
	Reason  string         `json:"reason,omitempty"` // why it is planned, paused, blocked or stopped; untrusted text
}

// Config configures a Sender.
type Config struct {
	URL string // "" means that nothing is sent
	Dir string // keeps notices until they are delivered

	// Session returns the row of a session.
	Session func(ctx context.Context, id pawl.SessionID) (pawl.Session, error)
}

// CheckURL returns an error unless notices may be sent to an address: with https or, on this machine, with http.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return fault.New(pawl.ErrInvalid, "notify.webhook is not an address that notices can be sent to").Hint("Use one such as https://example.org/hook.")
	}
	local := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return fault.New(pawl.ErrInvalid, "notify.webhook must start with https://, except on this machine").Hint("Use https, or http://localhost.")
	}
	return nil
}

// Sender sends notices in the background. It is safe for concurrent use.
type Sender struct {
	cfg    Config
	client *http.Client
	group  sync.WaitGroup

	mu     sync.Mutex
	failed []error
}

// New returns a sender, which begins with the notices that killed processes have left.
func New(cfg Config) *Sender {
	s := &Sender{cfg: cfg, client: &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if cfg.URL != "" {
		s.group.Go(s.sendLeft)
	}
	return s
}

// Close waits until all notices are sent, and returns those that were not delivered as one error.
func (s *Sender) Close() error {
	s.group.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failed) == 0 {
		return nil
	}
	return fmt.Errorf("%s not delivered to notify.webhook: %w", humanize.Plural(len(s.failed), "notice"), s.failed[0])
}

// Log is a log of events.
type Log interface {
	Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error)
	Publish(e pawl.Event)
	Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error]
}

// Watch returns log with s sending notices about the events that this process writes to it.
func (s *Sender) Watch(log Log) Log {
	if s.cfg.URL == "" {
		return log
	}
	return &watched{log, s}
}

type watched struct {
	Log
	s *Sender
}

// Append appends events to the log, and sends notices about those that were stored. A whole log that is imported
// is not news.
func (w *watched) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	stored, err := w.Log.Append(ctx, id, after, events...)
	if err != nil || after == 0 {
		return stored, err
	}
	for _, e := range stored {
		if n, ok := w.s.notice(ctx, e); ok {
			w.s.post(n)
		}
	}
	return stored, nil
}

// notice returns the notice about an event. ok is false for an event that needs none.
func (s *Sender) notice(ctx context.Context, e pawl.Event) (n Notice, ok bool) {
	n = Notice{ID: fmt.Sprintf("%s-%d", e.Session, e.Seq), Mission: e.Session, Session: e.Session, At: e.At}
	switch b := e.Body.(type) {
	case pawl.Sealed:
		n.Event, n.Commit = "sealed", b.Candidate
	case pawl.Blocked:
		n.Event, n.Reason = string(cmp.Or(b.State, pawl.MissionBlocked)), humanize.FirstLine(b.Reason, maxReason)
	case pawl.Asked:
		n.Event = "waiting"
	case pawl.TurnFinished:
		if b.Reason == pawl.ReasonCanceled { // by the user
			return n, false
		}
		n.Event, n.Reason = "stopped", string(b.Reason)
	default:
		return n, false
	}
	row, err := s.cfg.Session(ctx, e.Session)
	if err == nil && n.Event == "waiting" && row.Parent != "" {
		row, err = s.cfg.Session(ctx, row.Parent)
		n.Mission = row.ID
	}
	if err != nil {
		s.fail(fmt.Errorf("read session %s: %w", e.Session, err))
		return n, false
	}
	n.Dir = row.Dir
	return n, row.Mission != "" && (n.Event != "stopped" || row.MissionState() == pawl.MissionStopped)
}

func (s *Sender) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = append(s.failed, err)
}

// post saves a notice and sends it in the background.
func (s *Sender) post(n Notice) {
	text, err := json.Marshal(n)
	if err == nil {
		err = errors.Join(os.MkdirAll(s.cfg.Dir, 0o700), os.WriteFile(s.path(n.ID), text, 0o600))
	}
	if err != nil { // it is sent all the same
		s.fail(fmt.Errorf("save a notice: %w", err))
	}
	s.group.Go(func() { s.deliver(s.path(n.ID), text) })
}

func (s *Sender) path(id string) string { return filepath.Join(s.cfg.Dir, id+".json") }

// deliver sends a notice, a second time if the first fails, and removes its file. It never returns an error: a notice
// that cannot be delivered does not concern the mission.
func (s *Sender) deliver(path string, text []byte) {
	err := s.send(text)
	if err != nil {
		time.Sleep(pause)
		err = s.send(text)
	}
	if err != nil {
		s.fail(err)
	}
	_ = os.Remove(path) // a file that stays is sent again, with the same id
}

func (s *Sender) send(text []byte) error {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.cfg.URL, bytes.NewReader(text)) // a mission that ends does not end its notice
	if err != nil {
		return errors.New("invalid address")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "pawl")
	resp, err := s.client.Do(req)
	var failed *url.Error
	if errors.As(err, &failed) { // without the address, which may have a token
		return failed.Err
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("the answer is %d", resp.StatusCode)
	}
	return nil
}

// sendLeft sends the notices that killed processes have left.
func (s *Sender) sendLeft() {
	entries, err := os.ReadDir(s.cfg.Dir)
	if err != nil { // none was ever saved
		return
	}
	for _, e := range entries[:min(len(entries), maxLeft)] {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), ".json") || info.Size() > maxNotice || time.Since(info.ModTime()) < leftAfter {
			continue
		}
		path := filepath.Join(s.cfg.Dir, e.Name())
		if text, err := os.ReadFile(path); err == nil {
			s.deliver(path, text)
		}
	}
}
