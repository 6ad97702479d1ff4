package app

import (
	"fmt"
	"os"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/telemetry"
)

// openTelemetry opens telemetry as the user configured it. A project cannot configure it.
func openTelemetry() (*telemetry.Telemetry, error) {
	user, err := LoadUser()
	if err != nil {
		return nil, err
	}
	u := user.Telemetry
	s, err := telemetry.Settings{Endpoint: u.Endpoint, Headers: u.Headers, Content: u.Content, Service: u.ServiceName}.With(os.Getenv)
	if err != nil { // of variables that may be meant for other programs: no reason not to work
		warn("no telemetry: " + err.Error())
	}
	for name, value := range s.Headers { // whatever its name is: it is there to let pawl in
		Secrets.Add("telemetry "+name, value)
	}
	Secrets.AddHeaders("telemetry", s.Headers)
	return telemetry.New(telemetry.Config{Settings: s, Version: Version, Redact: Secrets.Event}), nil
}

// closeTelemetry sends what is left. A failure is a warning, not an error.
func closeTelemetry(t *telemetry.Telemetry) {
	if err := t.Close(); err != nil {
		warn(err.Error())
	}
}

// warn prints a message to standard error. It may contain what a server said.
func warn(text string) {
	fmt.Fprintf(os.Stderr, "pawl: %s\n", sanitize.Text(Secrets.Redact(text)))
}
