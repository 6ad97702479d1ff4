package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/egress"
)

// The ports of HTTP and HTTPS. A host without a port means HTTPS.
const (
	plainPort = 80
	tlsPort   = 443
)

// pattern matches hosts as permission rules do: one host, all names below a domain,
// or all names. It is narrower than a rule in two ways: without a port it matches 443
// only, and an IP address must be listed itself.
type pattern struct {
	name     string
	port     uint16 // 0 if it is missing
	below    bool
	everyone bool
}

// hosts is the list of hosts that may be reached.
type hosts []pattern

func parseHosts(list []string) (hosts, error) {
	var h hosts
	for _, s := range list {
		p, err := parsePattern(s)
		if err != nil {
			return nil, fmt.Errorf("invalid host %q: %w; use a name, *.domain or *, optionally with :port", s, err)
		}
		h = append(h, p)
	}
	return h, nil
}

func parsePattern(s string) (pattern, error) {
	if s == "*" {
		return pattern{everyone: true}, nil
	}
	var p pattern
	s, p.below = strings.CutPrefix(s, "*.")
	name := s
	if _, err := netip.ParseAddr(s); err != nil && strings.Contains(s, ":") {
		host, port, err := net.SplitHostPort(s)
		if err != nil {
			return p, errors.New("use a host, optionally with a port")
		}
		if p.port, err = parsePort(port); err != nil {
			return p, err
		}
		name = host
	}
	var err error
	if p.name, err = egress.Host(name); err != nil {
		return p, err
	}
	if p.below && isAddress(p.name) {
		return p, errors.New("an IP address has no subdomains")
	}
	return p, nil
}

// parsePort parses a port in canonical spelling.
func parsePort(s string) (uint16, error) {
	port, err := strconv.ParseUint(s, 10, 16)
	if err != nil || port == 0 || strconv.FormatUint(port, 10) != s {
		return 0, fmt.Errorf("invalid port %.10q", s)
	}
	return uint16(port), nil
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// names reports whether the pattern matches a host, by whole labels.
func (p pattern) names(host string) bool {
	switch {
	case p.everyone:
		return !isAddress(host)
	case p.below:
		return strings.HasSuffix(host, "."+p.name) && !isAddress(host)
	default:
		return host == p.name
	}
}

// opens reports whether the pattern matches a port. Plain HTTP, which can be read and
// changed on the way, needs a pattern that lists port 80.
func (p pattern) opens(port uint16, plain bool) bool {
	if plain {
		return p.port == plainPort && port == plainPort
	}
	return p.port == port || p.port == 0 && port == tlsPort
}

func (p pattern) String() string {
	name := p.name
	switch {
	case p.everyone:
		return "*"
	case p.below:
		name = "*." + name
	}
	if p.port != 0 {
		return net.JoinHostPort(name, fmt.Sprint(p.port))
	}
	return name
}

// ports returns all ports at which any host may be reached.
func (h hosts) ports() []uint16 {
	list := []uint16{tlsPort}
	for _, p := range h {
		if p.port != 0 {
			list = append(list, p.port)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// check returns nil if a host may be reached at a port, otherwise a refusal with the
// reason.
func (h hosts) check(host string, port uint16, plain bool) error {
	var named, vendor bool
	for _, p := range h {
		switch {
		case !p.names(host):
			continue
		case !p.opens(port, plain):
			named = true
		case (p.below || p.everyone) && isVendor(host):
			vendor = true
		default:
			return nil
		}
	}
	switch {
	case vendor:
		return &refusal{
			status: http.StatusForbidden, why: host + " accepts uploads with any account, so a wildcard does not cover it",
			advice: "Ask the user to allow " + host + " by name if this command must reach it.",
		}
	case named && plain:
		return &refusal{
			status: http.StatusForbidden, why: "plain http is not allowed: use https://" + host + "/",
			advice: fmt.Sprintf("If http is required, ask the user to allow %s.", net.JoinHostPort(host, fmt.Sprint(plainPort))),
		}
	case named:
		return &refusal{
			status: http.StatusForbidden, why: fmt.Sprintf("port %d of %s is not one of the ports that this command may reach: %s", port, host, h),
			advice: fmt.Sprintf("Use an allowed port, or ask the user to allow %s.", net.JoinHostPort(host, fmt.Sprint(port))),
		}
	}
	return &refusal{
		status: http.StatusForbidden, why: fmt.Sprintf("%s is not one of the hosts that this command may reach: %s", host, h),
		advice: "Ask the user to allow " + host + ". Commands in the sandbox cannot reach it in any other way.",
	}
}

// maxShown bounds the hosts that a refusal lists.
const maxShown = 10

func (h hosts) String() string {
	if len(h) == 0 {
		return "none"
	}
	var list []string
	for _, p := range h[:min(len(h), maxShown)] {
		list = append(list, p.String())
	}
	if len(h) > maxShown {
		list = append(list, "...")
	}
	return strings.Join(list, ", ")
}

// vendors are the APIs of model providers, and the hosts below them. They store what
// is sent with any account's key, which would allow exfiltration, so a wildcard that
// was meant for a domain's documentation does not cover them.
var vendors = []string{
	"api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "aiplatform.googleapis.com", "openai.azure.com",
	"services.ai.azure.com", "cognitiveservices.azure.com", "api.mistral.ai", "api.cohere.com", "api.cohere.ai", "api.groq.com", "api.x.ai",
	"api.deepseek.com", "openrouter.ai", "api.together.xyz", "api.together.ai", "api.fireworks.ai", "api.perplexity.ai", "api.cerebras.ai",
	"api.moonshot.ai", "api.moonshot.cn", "api.z.ai", "api.minimax.io", "router.huggingface.co", "api-inference.huggingface.co",
	"models.github.ai", "api.githubcopilot.com", "ai-gateway.vercel.sh", "open.bigmodel.cn", "api.kimi.com", "dashscope.aliyuncs.com",
	"dashscope-intl.aliyuncs.com", "inference.baseten.co", "api.tokenfactory.nebius.com", "api.scaleway.ai",
}

// isVendor reports whether a host is the API of a model provider, including those of
// clouds with the region in the name.
func isVendor(host string) bool {
	for _, v := range vendors {
		if host == v || strings.HasSuffix(host, "."+v) {
			return true
		}
	}
	return strings.HasSuffix(host, "-aiplatform.googleapis.com") ||
		strings.HasPrefix(host, "bedrock") && strings.HasSuffix(host, ".amazonaws.com")
}
