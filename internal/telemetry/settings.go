package telemetry

import (
	"errors"
	"net/url"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Settings says where to send telemetry. The zero value sends nothing.
type Settings struct {
	Endpoint string            // base URL of an OTLP receiver; "" means that nothing is sent
	Headers  map[string]string // added to each request
	Content  bool              // also send prompts, replies, tool inputs and tool outputs
	Service  string            // service name; "" means pawl
}

// The standard OpenTelemetry variables that pawl supports.
const (
	envDisabled = "OTEL_SDK_DISABLED"
	envEndpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	envHeaders  = "OTEL_EXPORTER_OTLP_HEADERS"
	envProtocol = "OTEL_EXPORTER_OTLP_PROTOCOL"
	envService  = "OTEL_SERVICE_NAME"
)

// protocolHTTP is the only protocol that pawl supports.
const protocolHTTP = "http/protobuf"

// With returns the settings, overridden by the OpenTelemetry environment variables.
// An endpoint from the environment also replaces the headers: those of the
// configuration are secrets for another endpoint. An error means that nothing can
// be sent.
func (s Settings) With(getenv func(string) string) (Settings, error) {
	if strings.EqualFold(getenv(envDisabled), "true") {
		return Settings{}, nil
	}
	if name := getenv(envService); name != "" {
		s.Service = name
	}
	if endpoint := getenv(envEndpoint); endpoint != "" {
		if p := getenv(envProtocol); p != "" && p != protocolHTTP {
			return Settings{}, fault.New(pawl.ErrInvalid, "unsupported %s %q: Pawl only supports %s", envProtocol, p, protocolHTTP).Hint("Change or unset it, or set %s=true to send no telemetry.", envDisabled)
		}
		headers, err := parseHeaders(getenv(envHeaders))
		if err != nil {
			return Settings{}, fault.New(pawl.ErrInvalid, "%s: %w", envHeaders, err)
		}
		s.Endpoint, s.Headers = endpoint, headers
	}
	if s.Endpoint == "" {
		return s, nil
	}
	if err := checkEndpoint(s.Endpoint); err != nil {
		return Settings{}, fault.New(pawl.ErrInvalid, "invalid telemetry endpoint: %w", err)
	}
	return s, nil
}

func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return errors.New("it is not a URL") // not quoted: it may contain a password
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("use a URL such as http://localhost:4318")
	case u.User != nil:
		return errors.New("it contains a password: use a header")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("it contains ? or #: use the base URL, to which /v1/traces is added")
	}
	return nil
}

// parseHeaders parses name=value,name=value with percent-encoded values.
func parseHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		pair = strings.TrimSpace(pair)
		if pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, errors.New("use name=value, separated by commas")
		}
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			return nil, errors.New("a value contains an invalid % escape")
		}
		headers[strings.TrimSpace(name)] = value
	}
	return headers, nil
}
