//go:build bench

package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

// TestBenchFeed: 500 clients on the feed of 200 working sessions. Each sees each session end.
func TestBenchFeed(t *testing.T) { //nolint:paralleltest // it measures time
	s := startServing(t)
	idle := s.memory(t, "VmRSS")
	ctx, cancel := context.WithTimeout(t.Context(), loadTime)
	defer cancel()
	var clients, joined sync.WaitGroup
	var received atomic.Int64
	for i := range loadClients {
		joined.Add(1)
		clients.Go(func() {
			f := feedClient{joined: joined.Done, ended: map[pawl.SessionID]bool{}}
			if err := f.follow(ctx, s.socket); err != nil {
				t.Errorf("client %d saw %d of %d sessions end: %v", i, len(f.ended), loadSessions, err)
			}
			received.Add(f.bytes)
		})
	}
	joined.Wait()
	script := busyScript(t, s.dir, 10, 40)
	var ids []pawl.SessionID
	for range loadSessions {
		ids = append(ids, s.create(t))
	}
	began, used := time.Now(), s.cpu(t)
	for _, id := range ids {
		s.begin(t, id, script)
	}
	clients.Wait()
	t.Logf("500 clients on the feed of 200 sessions: %.1f s, %.1f MB sent, server CPU %.1f s; RSS: idle %.1f MB, peak %.1f MB   (at most %d MB)",
		time.Since(began).Seconds(), mb(received.Load()), (s.cpu(t) - used).Seconds(), mb(idle), mb(s.memory(t, "VmHWM")), maxServeRSS>>20)
	if peak := s.memory(t, "VmHWM"); peak > maxServeRSS {
		t.Errorf("the server has taken %.1f MB", mb(peak))
	}
}

// feedClient follows the feed until all sessions have ended.
type feedClient struct {
	joined func()
	ended  map[pawl.SessionID]bool
	bytes  int64
}

func (f *feedClient) follow(ctx context.Context, socket string) error {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://pawl/v1/events", nil)
	if err != nil {
		return err
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the feed: %s", resp.Status)
	}
	lines := bufio.NewReader(resp.Body)
	for len(f.ended) < loadSessions {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		f.bytes += int64(len(line))
		if err := f.line(line); err != nil {
			return err
		}
	}
	return nil
}

// line reads a line of the feed.
func (f *feedClient) line(line []byte) error {
	data, ok := bytes.CutPrefix(line, []byte("data: "))
	if !ok {
		return nil
	}
	if f.joined != nil {
		f.joined()
		f.joined = nil
	}
	var change struct {
		Sessions []struct {
			ID    pawl.SessionID `json:"id"`
			Ended pawl.Reason    `json:"ended"`
		} `json:"sessions"`
	}
	if err := json.Unmarshal(data, &change); err != nil {
		return err
	}
	for _, s := range change.Sessions {
		if s.Ended == pawl.ReasonEndTurn {
			f.ended[s.ID] = true
		}
	}
	return nil
}
