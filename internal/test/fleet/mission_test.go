//go:build fleet && linux

package fleet

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/mission"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// staff is a fleet that works on a mission: a coordinator, an API node, and hosts. Each host
// has directories of its own at the same paths, in a mount namespace, and a name.
type staff struct {
	*mission.Env
	t     *testing.T
	top   string // what is in it is the same for all, but for here
	here  string // is another directory on each host
	url   string
	store *postgres.Store
	hosts map[string]*exec.Cmd
}

// muster starts a fleet of two hosts, which have a repository with these files.
func muster(t *testing.T, files map[string]string) *staff {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("hosts are made of mount namespaces, which only root can make")
	}
	top, err := os.MkdirTemp("", "pawl-staff-")
	if err != nil {
		t.Fatal(err)
	}
	c := &staff{t: t, top: top, here: filepath.Join(top, "here"), hosts: map[string]*exec.Cmd{}}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	ref := harness.Stores["postgres"](t)
	if c.store, err = postgres.Open(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.store.Close() })
	c.Env = mission.At(t, &harness.Workdir{Bin: harness.Binary(t, ""), Dir: filepath.Join(c.here, "work", "_", "one"), Env: c.env(ref)}, files)
	c.configure()
	c.start("coordinator", "", "worker", "--role", "coordinator")
	for _, name := range []string{"red", "blue"} {
		name += "-" + strings.ToLower(rand.Text()[:8]) // the engine is shared with other tests
		if err := os.CopyFS(filepath.Join(top, name), os.DirFS(c.here)); err != nil {
			t.Fatal(err)
		}
		c.hosts[name] = c.start(name, name, "worker", "--role", "executor", "--host", name, "--reserve", "1MiB")
	}
	c.start("node", "", "serve", "--listen", "127.0.0.1:0", "--dir", filepath.Join(c.here, "work"))
	c.url = c.said("pawl: listening on ")
	return c
}

func (c *staff) env(store string) []string {
	return append(os.Environ(), "PATH=/usr/bin:"+os.Getenv("PATH"), "PAWL_STORE="+store, "PAWL_CONFIG="+filepath.Join(c.top, "config.json"),
		"PAWL_DATA="+filepath.Join(c.here, "data"), "HOME="+filepath.Join(c.here, "home"), "XDG_CACHE_HOME="+filepath.Join(c.here, "cache"),
		"PAWL_SERVER_TOKEN=a-token-of-the-test-0123456789", "PAWL_TOKEN=a-token-of-the-test-0123456789")
}

func (c *staff) configure() {
	c.t.Helper()
	for _, dir := range []string{"data", "home", "cache"} {
		if err := os.MkdirAll(filepath.Join(c.here, dir), 0o700); err != nil {
			c.t.Fatal(err)
		}
	}
	engine := need(c.t, "PAWL_TEST_TEMPORAL")
	text, err := json.Marshal(map[string]any{"fleet": map[string]string{
		"host_timeout": soonLost, "temporal": engine, "namespace": ownNamespace(c.t, engine).Namespace, "nats": need(c.t, "PAWL_TEST_NATS"),
		"blobs": "file://" + filepath.Join(c.top, "blobs"), "workspaces": filepath.Join(c.here, "work"),
	}})
	if err == nil {
		err = os.WriteFile(filepath.Join(c.top, "config.json"), text, 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// onHost runs a program where a host's own directory is in the place of here.
const onHost = `hostname "$2" && mount --bind "$0/$2" "$1" && shift 2 && exec "$@"`

// start starts a process of the fleet, whose output is in a file. With a host it is
// in namespaces of its own.
func (c *staff) start(name, host string, args ...string) *exec.Cmd {
	c.t.Helper()
	node := *c.Workdir
	node.Bin = harness.Fleet(c.t)
	cmd := node.Command(args...)
	if host != "" {
		words := append([]string{"--mount", "--uts", "--propagation", "private", "sh", "-c", onHost, c.top, c.here, host, node.Bin}, args...)
		cmd.Path, cmd.Args = "/usr/bin/unshare", append([]string{"unshare"}, words...)
	}
	cmd.Dir = c.top
	out, err := os.Create(c.log(name))
	if err != nil {
		c.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = out.Close()
		if text, err := os.ReadFile(c.log(name)); err == nil && c.t.Failed() {
			c.t.Logf("%s says:\n%s", name, text)
		}
	})
	return cmd
}

func (c *staff) log(name string) string { return filepath.Join(c.top, name+".log") }

// until asks again and again, as nothing tells when processes of others are so far.
func (c *staff) until(what string, done func() bool) {
	c.t.Helper()
	wait.Until(c.t, what, done)
}

// said returns the word that follows in the API node's output.
func (c *staff) said(before string) (word string) {
	c.t.Helper()
	c.until("the node listens", func() bool {
		f, err := os.Open(c.log("node"))
		if err != nil {
			return false
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if _, after, ok := strings.Cut(lines.Text(), before); ok {
				word = strings.Fields(after)[0]
				return true
			}
		}
		return false
	})
	return word
}

// whereIs returns the hosts of the workspaces that are placed, by directory.
func (c *staff) whereIs() map[string]string {
	c.t.Helper()
	at := map[string]string{}
	for host := range c.hosts {
		rows, err := c.store.Workspaces(c.t.Context(), host)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, row := range rows {
			at[row.Dir] = host
		}
	}
	return at
}

// kill ends a host at once, as a power cut does.
func (c *staff) kill(host string) {
	c.t.Helper()
	if err := c.hosts[host].Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	_ = c.hosts[host].Wait()
}

var taskIDs = []string{"T1", "T2", "T3", "T4", "T5"}

// tasks plans five tasks, four of them for workers at once, and one that comes after
// the first. Each writes down on which host it is. A
// call that a kill hits is not run again, so each is made twice.
func (c *staff) tasks() {
	var tasks []mission.Object
	for _, id := range taskIDs {
		var after []string
		if id == "T5" {
			after = []string{"T1"}
		}
		tasks = append(tasks, mission.Task(id, "Write "+id, []string{id + ".txt"}, after...))
		write := mission.Shell("git log --oneline | head -n 1 && git status --short && uname -n > " + id + ".txt")
		for range 2 {
			c.As("worker:"+id, mission.Line{Calls: []mission.Call{write}, DelayMS: 3000})
		}
		c.As("worker:"+id, mission.Line{Text: "It is written."})
	}
	c.As("reviewer", mission.Verdict(true, "goal"), "I have looked.")
	c.Lead(mission.Plan(tasks...), mission.Delegate(), "I wait for them.", mission.Seal(), "All is done.")
}

// hand copies a file to all hosts.
func (c *staff) hand(name string) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.here, name))
	for host := range c.hosts {
		if err == nil {
			err = os.WriteFile(filepath.Join(c.top, host, name), text, 0o600)
		}
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// launch begins the mission, and does something while it goes on.
func (c *staff) launch(during func()) pawl.Board {
	c.t.Helper()
	cmd := c.Command("--attach", c.url, "--workers", "4", "--check", "grep -q base a.txt", "--check", mission.Changed, "Write five files.")
	c.hand("work/_/one-script.jsonl")
	ended := make(chan harness.Output, 1)
	go func() { ended <- harness.Wait(c.t, cmd) }()
	during()
	var out harness.Output
	select {
	case out = <-ended:
	case <-time.After(5 * time.Minute):
		node := *c.Workdir
		node.Bin = harness.Fleet(c.t)
		c.t.Fatalf("the mission does not end\n%s", node.Run(c.t, "check").Stdout)
	}
	if out.Code != 0 {
		c.t.Fatalf("exit %d\n%s\n%s", out.Code, out.Stdout, out.Stderr)
	}
	var b pawl.Board
	if err := json.Unmarshal([]byte(c.Must(c.t, "mission", "status", "--attach", c.url, "--json").Stdout), &b); err != nil {
		c.t.Fatal(err)
	}
	return b
}

// sealed holds that the mission is, that each task was merged once, and that nothing
// of the worktrees is left. It returns on which hosts the work was done that was
// merged, by task.
func (c *staff) sealed(b pawl.Board) map[string]string {
	c.t.Helper()
	if b.State != pawl.MissionSealed || len(b.Mission.Open()) > 0 {
		c.t.Fatalf("the mission is %s", b.State)
	}
	commander := c.whereIs()[c.Dir]
	repo := filepath.Join(c.top, commander, "work", "_", "one")
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", repo}, args...)...).CombinedOutput()
		if err != nil {
			c.t.Fatalf("git %q on %s: %v\n%s", args, commander, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if tip := git("rev-parse", b.Mission.Branch); tip != b.Mission.Sealed.Candidate {
		c.t.Errorf("the branch is at %s, sealed is %s", tip, b.Mission.Sealed.Candidate)
	}
	merges := strings.Fields(git("log", "--format=%(trailers:key=Pawl-Task,valueonly)", b.Mission.Criteria.Base+".."+b.Mission.Branch))
	slices.Sort(merges)
	if diff := cmp.Diff(taskIDs, merges); diff != "" {
		c.t.Errorf("merged (-want +got):\n%s", diff)
	}
	at := map[string]string{}
	for _, task := range merges {
		at[task] = git("show", b.Mission.Branch+":"+task+".txt")
	}
	c.t.Logf("the Commander ended on %s, the workers were on %v", commander, at)
	for _, child := range b.Team {
		if w, err := c.store.Workspace(c.t.Context(), child.Dir); err == nil && child.Dir != c.Dir {
			c.t.Errorf("a workspace is left: %+v", w)
		}
	}
	return at
}

// A mission's workers are spread over the hosts, and what they leave comes together
// on the Commander's.
func TestMission_Spread(t *testing.T) { //nolint:paralleltest // it ends servers that others use
	c := muster(t, map[string]string{"a.txt": "base\n"})
	c.tasks()
	at := c.sealed(c.launch(func() {}))
	if hosts := slices.Compact(slices.Sorted(maps.Values(at))); len(hosts) != 2 {
		t.Errorf("the workers were on %v", hosts)
	}
}

// A mission goes on when a host is lost: that of workers, or that of the Commander,
// before something is merged and after.
func TestMission_HostLost(t *testing.T) { //nolint:paralleltest // it ends servers that others use
	for name, find := range map[string]func(c *staff) (lost string){
		"worker": func(c *staff) (lost string) {
			for dir, host := range c.whereIs() {
				if commander := c.whereIs()[c.Dir]; dir != c.Dir && host != commander {
					lost = host
				}
			}
			return lost
		},
		"commander": func(c *staff) string {
			if where := c.whereIs(); len(where) > 1 {
				return where[c.Dir]
			}
			return ""
		},
		"commander, something is merged": func(c *staff) string {
			if c.merged() {
				return c.whereIs()[c.Dir]
			}
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := muster(t, map[string]string{"a.txt": "base\n"})
			c.tasks()
			var lost string
			at := c.sealed(c.launch(func() {
				c.until("a host can be lost", func() bool { lost = find(c); return lost != "" })
				c.kill(lost)
			}))
			for task, host := range at {
				if c.hosts[host] == nil {
					t.Errorf("%s was on %q", task, host)
				}
			}
			if commander := c.whereIs()[c.Dir]; commander == lost {
				t.Errorf("the Commander is on %s, which was lost", commander)
			}
		})
	}
}

// merged reports whether the work of a task is merged.
func (c *staff) merged() bool {
	c.t.Helper()
	rows, err := c.store.Sessions(c.t.Context(), pawl.Filter{Dir: c.Dir})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, row := range rows.Sessions {
		for e, err := range c.store.Events(c.t.Context(), row.ID, 0) {
			if err != nil {
				c.t.Fatal(err)
			}
			if _, ok := e.Body.(pawl.TaskMerged); ok {
				return true
			}
		}
	}
	return false
}
