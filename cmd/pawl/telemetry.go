package main

import (
	"fmt"
	"os"

	"github.com/pawl-dev/pawl/internal/telemetry"
)

// openTelemetry returns what tells of the work, to where the user wants it. What
// the directory says counts for nothing.
func openTelemetry() (*telemetry.Telemetry, error) {
	user, err := loadUser()
	if err != nil {
		return nil, err
	}
	u := user.Telemetry
	s, err := telemetry.Settings{Endpoint: u.Endpoint, Headers: u.Headers, Content: u.Content, Service: u.ServiceName}.With(os.Getenv)
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
