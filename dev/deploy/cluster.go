package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
)

const (
	coordinatorApp  = "pawl-coordinator" // the only one that may reach model providers
	providersSecret = "pawl-providers"   //nolint:gosec // a name: the keys of the providers are behind it
	drainSeconds    = 30                 // default time that pawl serve waits for turns
)

// list collects the faults of one object.
type list struct {
	what string
	all  []string
}

// want adds a fault unless ok is true.
func (l *list) want(ok bool, format string, args ...any) {
	if !ok {
		l.all = append(l.all, l.what+": "+fmt.Sprintf(format, args...))
	}
}

func (o object) list() *list { return &list{what: o.Kind + " " + o.Metadata.Name} }

// faults returns the inconsistencies of the manifests.
func (c *cluster) faults() []string {
	var all []string
	for _, w := range c.workloads {
		all = append(all, c.workloadFaults(w)...)
	}
	for _, s := range c.services {
		all = append(all, c.serviceFaults(s)...)
	}
	for _, b := range c.budgets {
		l := b.of.list()
		l.want(len(c.selected(b.Selector.MatchLabels)) > 0, "it selects nothing")
		l.want(b.Max > 0, "without maxUnavailable no node can be drained")
		all = append(all, l.all...)
	}
	for _, p := range c.policies {
		all = append(all, c.policyFaults(p)...)
	}
	return append(all, c.configFaults()...)
}

// selected returns the workloads whose pods have the labels.
func (c *cluster) selected(by labels) []workload {
	var out []workload
	for _, w := range c.workloads {
		if by.within(w.Template.Metadata.Labels) {
			out = append(out, w)
		}
	}
	return out
}

// hasPort reports whether all the workloads have the port, by its name or number.
func hasPort(ws []workload, port string) bool {
	for _, w := range ws {
		if !slices.ContainsFunc(w.Template.Spec.Containers, func(c container) bool { return c.hasPort(port) }) {
			return false
		}
	}
	return len(ws) > 0
}

func (c container) hasPort(port string) bool {
	for _, p := range c.Ports {
		if p.Name == port || strconv.Itoa(p.Port) == port {
			return true
		}
	}
	return false
}

func (c *cluster) serviceFaults(s service) []string {
	l := s.of.list()
	behind := c.selected(s.Selector)
	l.want(len(behind) > 0, "it selects nothing")
	for _, p := range s.Ports {
		l.want(hasPort(behind, p.Target), "there is no port %s behind it", p.Target)
	}
	return l.all
}

// policyFaults checks the selectors and ports of a network policy, and that only
// coordinators can reach other networks.
func (c *cluster) policyFaults(p policy) []string {
	l := p.of.list()
	pods := c.selected(p.Pods.MatchLabels)
	l.want(len(pods) > 0, "it selects nothing")
	for _, r := range p.Ingress {
		for _, port := range r.Ports {
			l.want(hasPort(pods, port.Port), "what it selects has no port %s", port.Port)
		}
		for _, from := range r.From {
			l.want(from.Namespaces != nil || from.Pods == nil || len(c.selected(from.Pods.MatchLabels)) > 0, "it lets in pods that are not there")
		}
	}
	for _, r := range p.Egress {
		l.want(len(r.To) > 0, "it lets out to anywhere")
		for _, to := range r.To {
			c.egressFaults(l, p, r, to)
		}
	}
	return l.all
}

func (c *cluster) egressFaults(l *list, p policy, r rule, to peer) {
	l.want(to.Block == nil || p.Pods.MatchLabels["app"] == coordinatorApp, "only %s may reach other networks: the providers are there", coordinatorApp)
	if to.Pods == nil || to.Namespaces != nil {
		return
	}
	for _, port := range r.Ports {
		l.want(hasPort(c.selected(to.Pods.MatchLabels), port.Port), "where it leads there is no port %s", port.Port)
	}
}

// configFaults checks that the gateway in the fleet's configuration exists.
func (c *cluster) configFaults() []string {
	l := &list{what: "the settings"}
	found := false
	for name, data := range c.configs {
		text, ok := data["config.json"]
		if !ok {
			continue
		}
		found = true
		var file struct{ Fleet struct{ Gateway string } }
		err := json.Unmarshal([]byte(text), &file)
		l.want(err == nil, "%s: %v", name, err)
		l.want(c.isService(file.Fleet.Gateway), "%s: there is no service behind the gateway %q", name, file.Fleet.Gateway)
	}
	l.want(found, "there is no ConfigMap with a config.json")
	return l.all
}

func (c *cluster) isService(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	for _, s := range c.services {
		for _, p := range s.Ports {
			if s.of.Metadata.Name == u.Hostname() && strconv.Itoa(p.Port) == u.Port() {
				return true
			}
		}
	}
	return false
}
