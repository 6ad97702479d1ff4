package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/telemetry"
	"github.com/pawl-dev/pawl/internal/weak"
)

// openTelemetry returns what tells of the work, to where the user wants it. What
// the directory says counts for nothing.
func openTelemetry() (*telemetry.Telemetry, error) {
	user, err := loadUser()
	if err != nil {
		return nil, err
	}
	u, getenv := user.Telemetry, os.Getenv
	if weak.On("telemetry.project") {
		u, getenv = telemetryOfProject(u)
	}
	s, err := telemetry.Settings{Endpoint: u.Endpoint, Headers: u.Headers, Content: u.Content, Service: u.ServiceName}.With(getenv)
	if err != nil { // of variables that may be meant for other programs: no reason not to work
		tell("no telemetry: " + err.Error())
	}
	for name, value := range s.Headers { // whatever its name is: it is there to let pawl in
		secrets.Add("telemetry "+name, value)
	}
	secrets.AddHeaders("telemetry", s.Headers)
	return telemetry.New(telemetry.Config{Settings: s, Version: version, Redact: secrets.Event}), nil
}

// closeTelemetry sends what is left. What is lost is told, and is no failure.
func closeTelemetry(t *telemetry.Telemetry) {
	if err := t.Close(); err != nil {
		tell(err.Error())
	}
}

// tell says something to the person, which may hold what a server said.
func tell(text string) {
	w := newScreen(os.Stderr)
	fmt.Fprintf(w, "pawl: %s\n", secrets.Redact(text))
	_ = w.Flush() // there is nobody else to tell
}

// telemetryOfProject is what pawl would do if it listened to the directory: only a
// test of what keeps it from that calls it.
func telemetryOfProject(u config.Telemetry) (config.Telemetry, func(string) string) {
	project := struct{ Telemetry *config.Telemetry }{&u}
	if text, err := os.ReadFile(filepath.FromSlash(config.ProjectFile)); err == nil {
		_ = json.Unmarshal(text, &project) // as far as it can be read
	}
	variables := map[string]string{}
	if text, err := os.ReadFile(".env"); err == nil {
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			variables[name] = value
		}
	}
	return *project.Telemetry, func(name string) string {
		if value := variables[name]; value != "" {
			return value
		}
		return os.Getenv(name)
	}
}
