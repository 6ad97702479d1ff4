//go:build bench && linux

package tui

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/backend"
)

const (
	rate    = 20_000 // deltas per second
	maxEcho = 50 * time.Millisecond
	maxRSS  = 100 << 20 // of a long session that the user scrolls through
	maxOpen = 300 * time.Millisecond
	idle    = 10 * time.Second

	// maxShare is the allowed CPU use of an idle UI, in percent of a CPU. It polls
	// the session once a second: another process may have changed it.
	maxShare = 0.1

	presses     = 200    // per round
	rounds      = 3      // at most: other load can only make them slower
	firstLetter = 0xac00 // of a script with many letters, each one or two cells wide
)

// flood is a provider whose reply never ends: rate deltas per second, all different.
// It speaks Anthropic's protocol.
type flood struct {
	sent  atomic.Int64
	began atomic.Int64
}

func (f *flood) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const pause = 5 * time.Millisecond
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n")
	fmt.Fprint(w, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n")
	began := time.Now()
	f.began.Store(began.UnixNano())
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
		for due := int64(time.Since(began).Seconds() * rate); f.sent.Load() < due; {
			i := f.sent.Add(1)
			end := " "
			if i%40 == 0 {
				end = `\n\n`
			}
			fmt.Fprintf(w, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%05x%s\"}}\n\n", i, end)
		}
		if http.NewResponseController(w).Flush() != nil {
			return
		}
	}
}

// TestBenchKeys measures how fast a key is on the screen while a reply streams in.
// Each key is a letter that occurs nowhere else; the time is from its write to the
// terminal to the read of the bytes that show it. A program that only echoes its
// input measures the overhead of the machine.
func TestBenchKeys(t *testing.T) { //nolint:paralleltest // it measures time
	w := NewEnv(t)
	f := &flood{}
	server := httptest.NewServer(f)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	w.Config["providers"] = object{"anthropic": object{"base_url": server.URL}}
	w.Env = append(w.Env, "ANTHROPIC_API_KEY=key")
	c := w.console("--mode", "yolo")
	c.expect("Ask Pawl to do something…")
	c.came()
	c.quiet(200 * time.Millisecond)
	var calm []time.Duration
	for i := range 50 {
		letter := string(rune(0x400 + i))
		calm = append(calm, c.press(letter, letter))
		time.Sleep(25 * time.Millisecond) // the pace of typing
	}
	t.Logf("keys: with nothing else p50 %s p99 %s", ms(at(.5, calm)), ms(at(.99, calm)))
	if _, err := c.keys.WriteString("\r"); err != nil {
		t.Fatal(err)
	}
	for f.sent.Load() < rate/10 {
		time.Sleep(time.Millisecond) // polls another process
	}
	bare := open(t, exec.Command("sh", "-c", "stty raw -echo; echo ready; exec cat"))
	bare.expect("ready")
	bare.came()
	for i := range rounds {
		if c.flooded(f, bare, i) {
			return
		}
	}
	t.Logf("over the goal: a key takes more than %s in each of %d rounds", maxEcho, rounds)
}

// flooded measures a round of keys, and reports whether they were fast and the
// provider reached its rate.
func (c *console) flooded(f *flood, bare *console, round int) bool {
	began, from, before := time.Now(), f.sent.Load(), c.used()
	var times, floor []time.Duration
	for i := range presses {
		letter := string(rune(firstLetter + presses*round + i))
		times = append(times, c.press(letter, letter))
		floor = append(floor, bare.press(letter, letter))
		time.Sleep(20 * time.Millisecond) // the pace of typing
	}
	took, sent, after := time.Since(began), f.sent.Load(), c.used()
	per := float64(sent-from) / took.Seconds()
	c.t.Logf("keys: with %.0f deltas a second p50 %s p99 %s max %s, a bare echo beside it p99 %s (at most %s more); CPU %.0f %%; peak RSS %.1f MB after %d deltas",
		per, ms(at(.5, times)), ms(at(.99, times)), ms(at(1, times)), ms(at(.99, floor)), maxEcho, 100*(after.cpu-before.cpu).Seconds()/took.Seconds(), mb(after.peak), sent)
	if per < 0.9*rate {
		c.t.Logf("not measured: only %.0f deltas a second came: pawl or this machine is too slow for the measure", per)
	}
	return at(.99, times) <= at(.99, floor)+maxEcho
}

// TestBenchIdle measures the CPU use of an idle UI.
func TestBenchIdle(t *testing.T) { //nolint:paralleltest // it measures time
	w := newShop(t, script(t, sumsUp)...)
	finished := w.console()
	finished.expect("Ask Pawl to do something…")
	finished.came()
	finished.quiet(200 * time.Millisecond)
	finished.press("hello\r", "in cents")
	empty := w.console()
	empty.expect("Ask Pawl to do something…")
	empty.came()
	names, consoles := []string{"an empty session", "a finished session"}, []*console{empty, finished}
	for range rounds {
		if still(t, names, consoles) {
			return
		}
	}
	t.Logf("over the goal: something is done in each of %d rounds", rounds)
}

// still reports whether idle consoles use no CPU.
func still(t *testing.T, names []string, consoles []*console) bool {
	t.Helper()
	var before []used
	for _, c := range consoles {
		c.quiet(2 * time.Second)
		before = append(before, c.used())
	}
	time.Sleep(idle) // the measured period
	calm := true
	for i, c := range consoles {
		now := c.used()
		cpu := now.cpu - before[i].cpu
		share := 100 * cpu.Seconds() / idle.Seconds()
		t.Logf("idle, %s: %.2f %% of a CPU (at most %.2f): %s and %d ticks in %s, woken %.1f times a second; peak RSS %.1f MB",
			names[i], share, maxShare, ms(cpu), now.ticks-before[i].ticks, idle, float64(now.switches-before[i].switches)/idle.Seconds(), mb(now.peak))
		calm = calm && share < maxShare
	}
	return calm
}

// longSession creates a session of that many messages.
func longSession(t *testing.T, w *Env, messages int) {
	t.Helper()
	ctx := context.Background()
	file := filepath.Join(w.Home, "pawl.db")
	w.Env = append(w.Env, "PAWL_STORE="+file)
	st, err := backend.Open(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	const batch = 250 // events per append
	settings := pawl.Settings{Model: Model, Mode: "guard"}
	events := []pawl.Event{{At: time.Now(), Body: pawl.SessionCreated{Dir: w.Project}}}
	var stored pawl.Seq
	for i := range messages / 2 {
		prompt := pawl.Text{Text: fmt.Sprintf("Question %05d: how many?", i)}
		answer := pawl.Text{Text: fmt.Sprintf("Answer %05d to it: **%d** things, of which\n\n- %x are sold\n- and `%d` are left\n\n```go\nfunc f%d() int { return %d }\n```\n", i, i*31, i*7919, i*17, i, i)}
		seq := stored + pawl.Seq(len(events)) + 1
		for _, b := range []pawl.Body{
			pawl.Prompted{Parts: pawl.Parts{prompt}, Settings: settings}, pawl.TurnStarted{Prompt: seq}, pawl.ReplyStarted{Step: 1, Model: Model},
			pawl.Replied{Step: 1, Model: Model, Parts: pawl.Parts{answer}, Finish: pawl.FinishEndTurn}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 1},
		} {
			events = append(events, pawl.Event{Turn: i + 1, At: time.Now(), Body: b})
		}
		if len(events) < batch && i+1 < messages/2 {
			continue
		}
		if _, err := st.Append(ctx, "01JD3V5M8Q0000000000000000", stored, events...); err != nil {
			t.Fatal(err)
		}
		stored += pawl.Seq(len(events))
		events = nil
	}
}

// TestBenchLongSession checks that a long session opens as fast as a short one, and
// that scrolling costs the same everywhere.
func TestBenchLongSession(t *testing.T) { //nolint:paralleltest // it measures time
	const messages, opens, pages = 10_000, 7, 100
	w := newShop(t, script(t, sumsUp)...)
	longSession(t, w, messages)
	var opened []time.Duration
	var c *console
	for range opens {
		c = w.console("-c")
		c.expect(fmt.Sprintf("f%d", messages/2-1))
		opened = append(opened, c.came().Sub(c.began))
	}
	t.Logf("a session of %d messages opens in %s (at most %s), p50 %s; CPU %s; peak RSS %.1f MB",
		messages, ms(at(0, opened)), maxOpen, ms(at(.5, opened)), ms(c.used().cpu), mb(c.used().peak))
	if at(0, opened) > maxOpen { // other load can only make it slower
		t.Logf("over the goal: it takes %s", at(0, opened))
	}
	c.quiet(200 * time.Millisecond)
	page := func() time.Duration {
		took := c.press("\x1b[5~", "\x1b[") // whatever is drawn first
		c.quiet(30 * time.Millisecond)
		return took
	}
	var early, late []time.Duration
	for i := range pages + 25 {
		took := page()
		switch {
		case i < 25:
			early = append(early, took)
		case i >= pages:
			late = append(late, took)
		}
	}
	u := c.used()
	t.Logf("a page up takes %s at the end (p99 %s), %s after %d pages (p99 %s); peak RSS %.1f MB",
		ms(at(.5, early)), ms(at(.99, early)), ms(at(.5, late)), pages, ms(at(.99, late)), mb(u.peak))
	if at(.5, late) > 2*at(.5, early)+5*time.Millisecond {
		t.Logf("over the goal: a page up takes longer the further it goes")
	}
	if u.peak > maxRSS {
		t.Errorf("it takes %.1f MB", mb(u.peak))
	}
}
