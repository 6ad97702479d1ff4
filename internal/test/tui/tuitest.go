// Package tui tests the terminal UI as users see it: the real program in a real
// terminal emulator, tmux, with keys, pastes, sizes and kills.
//
// Screens are compared with files in testdata, one per state and size; go test -update
// writes them. What differs from run to run is masked. Nothing depends on the speed of
// the machine: waits end when the expected state is there, or after a long time.
package tui

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// Model is the model that the fake provider serves.
const Model = "anthropic/claude-sonnet-4-5"

// Env is a machine with a user's files: home, configuration, project and provider. Its
// names have the same length in every run.
type Env struct {
	Home    string // HOME
	Project string // working directory of pawl
	Data    string // PAWL_DATA
	Bin     string
	Config  map[string]any // as written before pawl is first started
	Env     []string       // added to the common environment
	Server  *modeltest.FakeServer

	t    testing.TB
	once sync.Once
}

// NewEnv returns an Env whose provider replies from a script.
func NewEnv(t testing.TB, script ...string) *Env {
	t.Helper()
	home := filepath.Join("/tmp", prefix+strings.ToLower(rand.Text()[:nameLen]))
	w := &Env{
		t: t, Home: home, Project: filepath.Join(home, "shop"), Data: filepath.Join(home, "data"), Bin: harness.Binary(t, ""),
		Config: map[string]any{"model": Model, "small_model": "none", "tui": map[string]any{"theme": "dark"}},
	}
	if err := os.MkdirAll(w.Project, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if len(script) > 0 {
		w.Provide(script...)
	}
	return w
}

// Provide starts a provider that replies from a script.
func (w *Env) Provide(script ...string) {
	w.t.Helper()
	w.Server = modeltest.StartFake(w.t, fakeprovider.Config{}, script...)
	w.Config["providers"] = map[string]any{"anthropic": map[string]any{"base_url": w.Server.URL}}
	w.Env = append(w.Env, "ANTHROPIC_API_KEY=key")
}

// Write writes a file in the project.
func (w *Env) Write(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.Project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// Read returns a file of the project; a missing one is empty.
func (w *Env) Read(name string) string {
	return w.commands().Read(w.t, name)
}

// Environ returns the environment of pawl: nothing of the test's machine but its
// programs.
func (w *Env) Environ() []string {
	w.t.Helper()
	config := filepath.Join(w.Home, "pawl.json")
	w.once.Do(func() { // later pawl may change it
		data, err := json.Marshal(w.Config)
		if err == nil {
			err = os.WriteFile(config, data, 0o600)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	})
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.Home, "SHELL=/bin/sh", "LANG=C.UTF-8", "TZ=UTC", "TERM=xterm-256color", "COLORTERM=truecolor",
		"PAWL_DATA=" + w.Data, "PAWL_CONFIG=" + config,
	}, w.Env...)
}

// commands runs pawl's other commands in this environment.
func (w *Env) commands() *harness.Workdir {
	return &harness.Workdir{Bin: w.Bin, Dir: w.Project, Env: w.Environ()}
}

// Run runs another pawl command and fails the test unless it succeeds.
func (w *Env) Run(args ...string) string {
	w.t.Helper()
	return w.commands().Must(w.t, args...).Stdout
}
