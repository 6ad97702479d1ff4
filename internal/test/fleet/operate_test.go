//go:build fleet

package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"go.yaml.in/yaml/v3"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// small is a fleet of one worker and one API node, as an operator has it.
type small struct {
	*harness.Workdir
	version             string
	api, health, secret string
}

func newSmall(t *testing.T) *small {
	t.Helper()
	s := &small{
		Workdir: harness.NewWorkdir(t, harness.Fleet(t), harness.Stores["postgres"](t)), version: strings.ToLower(ulid.Make().String()),
		api: localAddress(t), health: localAddress(t), secret: "pawl_" + ulid.Make().String(),
	}
	gateway, work, config := localAddress(t), filepath.Join(t.TempDir(), "work"), filepath.Join(t.TempDir(), "config.json")
	text := fmt.Sprintf(`{"fleet":{"temporal":%q,"namespace":%q,"nats":%q,"blobs":"file://%s","workspaces":%q,"gateway":"http://%s"}}`,
		need(t, "PAWL_TEST_TEMPORAL"), ownNamespace(t, need(t, "PAWL_TEST_TEMPORAL")).Namespace, need(t, "PAWL_TEST_NATS"), t.TempDir(), work, gateway)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Dir = filepath.Join(work, "_", "one")
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "PAWL_CONFIG="+config, "PAWL_SERVER_TOKEN="+s.secret, "PAWL_TOKEN="+s.secret, "PAWL_GATEWAY_TOKEN=gateway-"+s.secret)
	s.start(t, "worker", "--host", "host-"+s.version, "--build-id", s.version, "--gateway-listen", gateway, "--health", s.health)
	s.start(t, "serve", "--listen", s.api, "--dir", work)
	for _, address := range []string{s.health, s.api} {
		await(t, address, func() bool { _, err := s.get(t, address, "/readyz"); return err == nil })
	}
	return s
}

// start runs a part until the test ends, and shows what it said if that has failed.
func (s *small) start(t *testing.T, args ...string) {
	t.Helper()
	cmd := s.Command(args...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("--- pawl %s\n%s", args[0], said.String())
		}
	})
}

func localAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s does not come to hold", what)
		case <-tick.C:
		}
	}
}

func (s *small) get(t *testing.T, address, path string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.secret)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return string(text), err
}

// work has a session done.
func (s *small) work(t *testing.T) {
	t.Helper()
	s.Write(t, "script.jsonl", `{"calls":[{"name":"write","input":{"path":"a.txt","content":"a"}}]}`+"\n"+`{"text":"Done."}`+"\n")
	user := *s.Workdir
	user.Bin = harness.Binary(t, "")
	user.Must(t, "run", "--attach", "http://"+s.api, "--mode", "yolo", "--model", "script:"+filepath.Join(s.Dir, "script.jsonl"), "go")
}

// TestOperate: the commands of an operator do what they say, and print JSON.
func TestOperate(t *testing.T) { //nolint:paralleltest // it ends servers that others use
	s := newSmall(t)
	s.work(t)
	host := "host-" + s.version
	var status struct {
		Hosts []struct {
			Name, Version  string
			Live, Draining bool
		}
		Queues []struct {
			Name    string
			Pollers int
		}
		NATS   bool
		Faults []string
	}
	look := func() {
		t.Helper()
		into(t, s.Must(t, "status", "--json").Stdout, &status)
	}
	look()
	if len(status.Hosts) != 1 || status.Hosts[0].Name != host || status.Hosts[0].Version != s.version || !status.Hosts[0].Live || !status.NATS || len(status.Faults) != 0 {
		t.Errorf("the status: %+v", status)
	}
	var drained struct{ Draining bool }
	if into(t, s.Must(t, "drain", host, "--json").Stdout, &drained); !drained.Draining {
		t.Error("the host does not drain")
	}
	await(t, "the host is not ready", func() bool { _, err := s.get(t, s.health, "/readyz"); return err != nil })
	if out := s.Run(t, "check"); out.Code != 1 || !strings.Contains(out.Stdout, "--undo") {
		t.Errorf("the check of a fleet without a host: exit %d\n%s", out.Code, out.Stdout)
	}
	into(t, s.Must(t, "drain", host, "--undo", "--json").Stdout, &drained)
	await(t, "the host is ready", func() bool { _, err := s.get(t, s.health, "/readyz"); return err == nil })
	var promoted struct{ Version string }
	if into(t, s.Must(t, "promote", s.version, "--json").Stdout, &promoted); promoted.Version != s.version {
		t.Errorf("promoted %q", promoted.Version)
	}
	var findings []struct{ Name, Status, Detail string }
	into(t, s.Must(t, "check", "--json").Stdout, &findings)
	for _, f := range findings {
		if f.Status != "ok" {
			t.Errorf("the check: %+v", f)
		}
	}
	for _, table := range []string{"HOST", "TENANT", "QUEUE", "COORDINATORS", host, "executor-" + host} {
		if out := s.Must(t, "status"); !strings.Contains(out.Stdout, table) {
			t.Errorf("the status does not show %s:\n%s", table, out.Stdout)
		}
	}
}

// TestNoVersion: a coordinator that will get no new work says so.
func TestNoVersion(t *testing.T) { //nolint:paralleltest // it ends servers that others use
	s := newSmall(t)
	cmd := s.Command("worker", "--role", "coordinator")
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "--build-id") && strings.Contains(lines.Text(), s.version) {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
			return
		}
	}
	t.Errorf("it does not say that it gets no work: %v", cmd.Wait())
}

func into(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// TestDown: what is down is said, with what to do, and what is up is shown.
func TestDown(t *testing.T) { //nolint:paralleltest // it ends servers that others use
	s := &small{Workdir: harness.NewWorkdir(t, harness.Fleet(t), harness.Stores["postgres"](t))}
	s.Write(t, "config.json", fmt.Sprintf(`{"fleet":{"temporal":%q,"nats":"nats://%s","blobs":"file:///dev/null/no","gateway":"http://%s"}}`, localAddress(t), localAddress(t), localAddress(t)))
	s.Env = append(s.Env, "PAWL_CONFIG="+filepath.Join(s.Dir, "config.json"), "PAWL_GATEWAY_TOKEN=x")
	out := s.Run(t, "check", "--json")
	var findings []struct{ Name, Status, Fix string }
	into(t, out.Stdout, &findings)
	bad := []string{}
	for _, f := range findings {
		if f.Status != "ok" {
			bad = append(bad, f.Name)
			if f.Fix == "" {
				t.Errorf("%s: it is not said what to do", f.Name)
			}
		}
	}
	slices.Sort(bad)
	if want := []string{"checkpoints", "gateway", "hosts", "nats", "temporal", "workspaces"}; !slices.Equal(bad, want) || out.Code != 1 {
		t.Errorf("exit %d, not ok are %v, want %v", out.Code, bad, want)
	}
	out = s.Run(t, "status", "--json")
	var status struct{ Faults []string }
	if into(t, out.Stdout, &status); len(status.Faults) != 2 || out.Code != 1 {
		t.Errorf("exit %d, faults %q", out.Code, status.Faults)
	}
	if out := s.Run(t, "promote", "v1"); out.Code == 0 || !strings.Contains(out.Stderr, "pawl-fleet check") {
		t.Errorf("promote: exit %d, %s", out.Code, out.Stderr)
	}
}

// TestSuperuser: no part of a fleet works as a role that sees all tenants.
func TestSuperuser(t *testing.T) { //nolint:paralleltest // it ends servers that others use
	url := harness.Stores["postgres"](t)
	s := &small{Workdir: harness.NewWorkdir(t, harness.Fleet(t), strings.Replace(url, "//pawl@", "//postgres@", 1))}
	s.Write(t, "config.json", fmt.Sprintf(`{"fleet":{"temporal":%q,"nats":%q,"workspaces":%q}}`, need(t, "PAWL_TEST_TEMPORAL"), need(t, "PAWL_TEST_NATS"), filepath.Join(s.Dir, "work")))
	s.Env = append(s.Env, "PAWL_CONFIG="+filepath.Join(s.Dir, "config.json"))
	for _, args := range [][]string{{"worker", "--build-id", ulid.Make().String()}, {"serve", "--listen", localAddress(t)}, {"drain", "x"}} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, s.Bin, args...) //nolint:gosec // the program under test
		cmd.Dir, cmd.Env = s.Dir, s.Env
		out, err := cmd.CombinedOutput()
		cancel()
		if err == nil || !strings.Contains(string(out), "is a superuser") {
			t.Errorf("%v as a superuser: %v\n%s", args, err, out)
		}
	}
}

// TestDashboard: what the dashboard and the alerts name is there, under this name,
// in what a worker and an API node tell.
func TestDashboard(t *testing.T) { //nolint:paralleltest // it ends servers that others use
	s := newSmall(t)
	s.work(t)
	reported := map[string]bool{}
	for _, address := range []string{s.health, s.api} {
		text, err := s.get(t, address, "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^([a-z_0-9]+)[ {]`).FindAllStringSubmatch(text, -1) {
			reported[m[1]] = true
		}
	}
	named := map[string]bool{}
	for _, expr := range append(panelExprs(t), alertExprs(t)...) {
		found := metricNames(expr)
		if len(found) == 0 {
			t.Errorf("%s names no metric", expr)
		}
		for _, name := range found {
			if named[name] = true; !reported[name] {
				t.Errorf("%s: nobody tells %s", expr, name)
			}
		}
	}
	for name := range reported { // what was made for a fleet is shown
		if base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, ""); strings.HasPrefix(name, "pawl_fleet_") && !named[name] && !named[base+"_count"] && !named[base+"_bucket"] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

var (
	labels  = regexp.MustCompile(`by \([^)]*\)|\{[^}]*\}`)
	metrics = regexp.MustCompile(`\b[a-z]+_[a-z_0-9]*[a-z0-9]\b`)
)

// metricNames returns the metrics of an expression.
func metricNames(expr string) []string {
	return slices.DeleteFunc(metrics.FindAllString(labels.ReplaceAllString(expr, ""), -1), func(name string) bool {
		return name == "histogram_quantile" || name == "predict_linear" || strings.HasPrefix(name, "__")
	})
}

func panelExprs(t *testing.T) (list []string) {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/grafana/pawl-fleet.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Type    string
			Targets []struct{ Expr string }
		}
	}
	into(t, string(text), &board)
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			list = append(list, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
		}
	}
	return list
}

func alertExprs(t *testing.T) (list []string) {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/grafana/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s does not say what it means and what to do", r.Alert)
			}
			list = append(list, r.Expr)
		}
	}
	return list
}
