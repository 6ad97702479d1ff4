//go:build fleet

package fleet

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
)

// The sizes of the test. With PAWL_FAULT_TIMES each fault happens that often, to
// more sessions.
const (
	fewSessions  = 20
	manySessions = 50
	jobSteps     = 6
	jobThinks    = 400 * time.Millisecond // before each piece of a reply: four, with its calls
	drift        = 50 * time.Millisecond  // so that a fault meets sessions at other steps
	jobEnds      = 5 * time.Minute        // also on a slow computer
	outage       = 20 * time.Second       // a host is lost long before
)

// crew is a fleet of which each part is there more than once.
type crew struct {
	*env
	nodes        []*program
	coordinators []*program
	hosts        []*host
	front        *client.Client // by what stands before the nodes
	random       *rand.Rand

	begun   []*job
	atWork  []*job // those of begun that had not ended when last looked at
	follows sync.WaitGroup
}

func newCrew(t testing.TB, seed uint64) *crew {
	t.Helper()
	c := &crew{env: newEnv(t, startServers(t)), random: rand.New(rand.NewPCG(seed, 1))}
	c.hostTimeout = "10s" // as in a real fleet
	for i := range 2 {
		c.coordinators = append(c.coordinators, c.coordinator(fmt.Sprintf("coordinator%d", i+1)))
	}
	for i := range 3 {
		c.hosts = append(c.hosts, c.apart(i+1, fmt.Sprintf("host%d", i+1)))
	}
	var addresses []string
	for i := range 2 {
		p, address, _ := c.node(fmt.Sprintf("api%d", i+1))
		c.nodes, addresses = append(c.nodes, p), append(addresses, address)
	}
	c.front = c.client(c.relay("127.0.0.1:0", func() []string { return addresses }))
	return c
}

// fault is something that goes wrong. It calls hit when it has, with the host whose
// sessions it concerns, "" if it may be all; it returns what is to be repaired when
// the sessions have left on.
type fault func(c *crew, hit func(host string)) (repair func())

var faults = []struct {
	name string
	do   fault
}{
	{"kill executor", func(c *crew, hit func(string)) func() {
		h := c.hosts[c.random.IntN(len(c.hosts))]
		return c.die(h.program, h.name, hit)
	}},
	{"kill executor at work", func(c *crew, hit func(string)) func() {
		h := c.hosts[c.random.IntN(len(c.hosts))]
		c.inCall(h)
		return c.die(h.program, h.name, hit)
	}},
	{"kill an API node", func(c *crew, hit func(string)) func() {
		return c.die(c.nodes[c.random.IntN(len(c.nodes))], "", hit)
	}},
	{"kill a coordinator", func(c *crew, hit func(string)) func() {
		return c.die(c.coordinators[c.random.IntN(len(c.coordinators))], "", hit)
	}},
	{"kill Temporal", func(c *crew, hit func(string)) func() { return c.crash("temporal", hit) }},
	{"kill PostgreSQL", func(c *crew, hit func(string)) func() { return c.crash("postgres", hit) }},
	{"kill NATS", func(c *crew, hit func(string)) func() { return c.crash("nats", hit) }},
	{"cut a host off", func(c *crew, hit func(string)) func() {
		h := c.hosts[c.random.IntN(len(c.hosts))]
		h.cut()
		hit(h.name)
		time.Sleep(outage) // the length of the fault
		h.heal()
		return nil
	}},
	{"fill a disk", func(c *crew, hit func(string)) func() {
		h := c.hosts[c.random.IntN(len(c.hosts))]
		filler := h.disk(filepath.Join(c.dir, "work", "filler"))
		c.fill(filler)
		hit(h.name)
		time.Sleep(outage) // the length of the fault
		if err := os.Remove(filler); err != nil {
			c.Error(err)
		}
		return nil
	}},
	{"lose the blobs", func(c *crew, hit func(string)) func() {
		blobs := filepath.Join(c.dir, "blobs")
		if err := os.Rename(blobs, blobs+".away"); err != nil {
			c.Fatal(err)
		}
		if err := os.WriteFile(blobs, nil, 0o600); err != nil { // so that nobody makes the directory anew
			c.Fatal(err)
		}
		hit("")
		time.Sleep(5 * time.Second) // the length of the fault
		if err := os.Remove(blobs); err != nil {
			c.Fatal(err)
		}
		if err := os.Rename(blobs+".away", blobs); err != nil {
			c.Fatal(err)
		}
		return nil
	}},
}

// inCall waits until a call is under way on a host: half of what it does is done. If
// none begins any more, whatever comes will do.
func (c *crew) inCall(h *host) {
	c.Helper()
	homes := c.homes()
	written := func() (n int) {
		for _, j := range c.atWork {
			if homes[j.dir] == h.name {
				n += len(lines(c, j.shared()))
			}
		}
		return n
	}
	for before, end := written(), time.Now().Add(outage); written() <= before && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond) // a poll: the call is in another process
	}
}

// die kills a program. It comes back after a second, or not before all have left on
// without it.
func (c *crew) die(p *program, host string, hit func(string)) func() {
	p.kill()
	hit(host)
	if c.random.IntN(2) == 0 {
		return p.restart
	}
	time.Sleep(time.Second) // the length of the fault
	p.restart()
	return nil
}

// crash kills a server and starts it again.
func (c *crew) crash(server string, hit func(string)) func() {
	c.do("kill", server)
	hit("")
	c.do("up") // Temporal may have ended with its database
	return nil
}

// fill takes all that is free on the disk of a file.
func (c *crew) fill(path string) {
	f, err := os.Create(path)
	if err != nil {
		c.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int64{1 << 20, 1 << 10} {
		for err = nil; err == nil; {
			_, err = io.CopyN(f, zeros{}, size)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// faultCounts is the result of one kind of fault.
type faultCounts struct {
	name                     string
	times, sessions, unknown int
	waits                    []time.Duration // until the sessions went on that it concerned
}

func (a *faultCounts) String() string {
	slices.Sort(a.waits)
	median, longest := time.Duration(0), time.Duration(0)
	if n := len(a.waits); n > 0 {
		median, longest = a.waits[n/2], a.waits[n-1]
	}
	return fmt.Sprintf("| %-18s | %5d | %8d | %9d | %7d | %6.1f s | %6.1f s |", a.name, a.times, a.sessions, len(a.waits), a.unknown, median.Seconds(), longest.Seconds())
}

// Whatever dies in mid-turn, sessions end as if nothing had: nothing is done twice,
// and nothing that was done is lost.
func TestFaults(t *testing.T) { //nolint:paralleltest // it sets environment variables
	times, sessions := 1, fewSessions
	if text := os.Getenv("PAWL_FAULT_TIMES"); text != "" {
		var err error
		if times, err = strconv.Atoi(text); err != nil || times < 1 {
			t.Fatalf("PAWL_FAULT_TIMES=%q: want how often each fault happens", text)
		}
		sessions = manySessions
	}
	table := []string{"| fault              | times | sessions | concerned | unknown |   median |  longest |"}
	for _, f := range faults {
		t.Run(strings.ReplaceAll(f.name, " ", "-"), func(t *testing.T) {
			seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number
			t.Logf("seed %d", seed)
			c, a := newCrew(t, seed), &faultCounts{name: f.name}
			for a.times < times && !t.Failed() {
				c.suffer(t, f.do, sessions, a)
			}
			c.checkAll(t, a)
			t.Log(a)
			table = append(table, a.String())
		})
	}
	t.Logf("from a fault until the logs of the sessions that it concerned grew again:\n%s", strings.Join(table, "\n"))
}

// suffer has something go wrong while sessions run, and waits until those that it
// concerned went on.
func (c *crew) suffer(t *testing.T, do fault, sessions int, a *faultCounts) {
	t.Helper()
	c.busy(t, sessions)
	time.Sleep(time.Duration(c.random.IntN(5000)) * time.Millisecond) // an instant like any other
	homes := c.homes()
	var at time.Time
	var where string
	repair := do(c, func(host string) { at, where = time.Now(), host })
	for _, j := range c.atWork {
		if where != "" && homes[j.dir] != where {
			continue
		}
		if wait := c.goesOn(j, at); wait > 0 {
			a.waits = append(a.waits, wait)
		}
	}
	if repair != nil {
		repair()
	}
	a.times++
}

// busy sees to it that so many sessions run: those that have not ended, and new ones.
func (c *crew) busy(t *testing.T, sessions int) {
	t.Helper()
	c.atWork = slices.DeleteFunc(c.atWork, func(j *job) bool {
		row, err := c.log.Session(t.Context(), j.id)
		return err == nil && row.State() == pawl.StateIdle && row.Turns > 0
	})
	more := c.jobs(t, sessions-len(c.atWork), fmt.Sprintf("J%d", len(c.begun)))
	c.watch(t, more[:len(more)/5])
	c.begun, c.atWork = append(c.begun, more...), append(c.atWork, more...)
}

// goesOn waits until a session's log has grown since an instant. It returns how long
// that took, 0 if it had ended by then.
func (c *crew) goesOn(j *job, at time.Time) time.Duration {
	c.Helper()
	for end := time.Now().Add(jobEnds); ; time.Sleep(100 * time.Millisecond) { // a poll: the log is in another process
		if wait, known := j.wentOn(at); known {
			return wait
		}
		if time.Now().After(end) {
			c.Fatalf("%s (%s) does not go on, %s after the fault", j.name, j.id, time.Since(at).Round(time.Second))
		}
	}
}

// checkAll waits for the ends of all sessions, and looks at them.
func (c *crew) checkAll(t *testing.T, a *faultCounts) {
	t.Helper()
	c.endAll(c.begun)
	c.follows.Wait()
	a.sessions = len(c.begun)
	for _, j := range c.begun {
		a.unknown += j.check(t)
	}
}

// jobs begins sessions, some at a time.
func (c *crew) jobs(t *testing.T, n int, prefix string) []*job {
	t.Helper()
	jobs, failed := make([]*job, n), make([]error, n)
	var all sync.WaitGroup
	next := make(chan int)
	for range 5 {
		all.Go(func() {
			for i := range next {
				jobs[i], failed[i] = c.newJob(t.Context(), c.front, fmt.Sprintf("%s-%d", prefix, i), []string{"auto", "yolo"}[i%2], jobSteps, jobThinks+time.Duration(i%7)*drift)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
	for _, err := range failed {
		if err != nil {
			t.Fatal(err)
		}
	}
	return jobs
}

// watch follows sessions to their ends.
func (c *crew) watch(t *testing.T, jobs []*job) {
	t.Helper()
	for _, j := range jobs {
		c.follows.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*jobEnds)
			defer cancel()
			if err := j.follow(ctx, c.front); err != nil {
				t.Error(err)
			}
		})
	}
}

// homes returns on which host each directory is.
func (c *crew) homes() map[string]string {
	c.Helper()
	homes := map[string]string{}
	for _, h := range c.hosts {
		list, err := c.log.Workspaces(c.Context(), h.name)
		if err != nil {
			c.Fatal(err)
		}
		for _, w := range list {
			homes[w.Dir] = h.name
		}
	}
	return homes
}
