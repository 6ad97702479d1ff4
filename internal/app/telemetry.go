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
	if err != nil { // not fatal: the environment variables may be meant for other programs
		warn("telemetry is off: " + err.Error())
	}
	for name, value := range s.Headers { // any header may hold a credential
		Secrets.Add("telemetry "+name, value)
	}
	Secrets.AddHeaders("telemetry", s.Headers)
	return telemetry.New(telemetry.Config{Settings: s, Version: Version, Redact: Secrets.Event}), nil
}

// closeTelemetry sends the remaining data. An error is printed as a warning.
func closeTelemetry(t *telemetry.Telemetry) {
	if err := t.Close(); err != nil {
		warn(err.Error())
	}
}

// warn prints a message, which may contain untrusted text, to standard error.
func warn(text string) {
	fmt.Fprintf(os.Stderr, "pawl: %s\n", sanitize.Text(Secrets.Redact(text)))
}
