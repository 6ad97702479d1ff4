package main

import (
	"slices"
	"strings"
)

// workloadFaults checks a Deployment, a StatefulSet or a Job.
func (c *cluster) workloadFaults(w workload) []string {
	l := w.of.list()
	spec := w.Template.Spec
	l.want(c.accounts[spec.Account], "there is no ServiceAccount %q", spec.Account)
	l.want(spec.Automount != nil && !*spec.Automount, "it gets a token for Kubernetes: set automountServiceAccountToken: false")
	l.want(spec.Security.NonRoot, "it may run as root")
	l.want(len(spec.Containers) > 0, "it has no container")
	for _, v := range spec.Volumes {
		l.want(v.ConfigMap == nil || c.configs[v.ConfigMap.Name] != nil, "there is no ConfigMap for the volume %s", v.Name)
		l.want(v.ConfigMap != nil || v.EmptyDir != nil, "the volume %s is nothing", v.Name)
		l.want(w.mounts(v.Name), "nobody mounts the volume %s", v.Name)
	}
	for _, k := range spec.Containers {
		c.containerFaults(l, w, k)
	}
	if w.of.Kind != "Job" {
		c.standingFaults(l, w)
	}
	return l.all
}

func (w workload) mounts(volume string) bool {
	return slices.ContainsFunc(w.Template.Spec.Containers, func(k container) bool {
		for _, m := range k.Mounts {
			if m.Name == volume {
				return true
			}
		}
		return false
	})
}

func (w workload) hasVolume(name string) bool {
	return slices.ContainsFunc(w.Template.Spec.Volumes, func(v volume) bool { return v.Name == name }) ||
		slices.ContainsFunc(w.Claims, func(v claim) bool { return v.Metadata.Name == name })
}

// standingFaults checks workloads that run permanently: each needs replicas spread
// over nodes, a disruption budget, time to drain, and probes.
func (c *cluster) standingFaults(l *list, w workload) {
	pods := w.Template.Metadata.Labels
	l.want(w.Selector.MatchLabels.within(pods), "its selector does not select its own pods")
	l.want(len(c.selected(w.Selector.MatchLabels)) == 1, "its selector selects the pods of others")
	l.want(w.Replicas > 1, "one of it is no fleet")
	budgets := 0
	for _, b := range c.budgets {
		if b.Selector.MatchLabels.within(pods) {
			budgets++
		}
	}
	l.want(budgets == 1, "it has %d PodDisruptionBudgets, and not one", budgets)
	l.want(len(w.Template.Spec.Spread) > 0, "it is not spread over nodes")
	for _, s := range w.Template.Spec.Spread {
		l.want(s.Selector.MatchLabels.within(pods), "what is spread over %s is not itself", s.Key)
	}
	l.want(w.Template.Spec.Grace > drainSeconds, "it is killed before it has drained, which takes %d s", drainSeconds)
	if w.of.Kind == "StatefulSet" {
		l.want(slices.ContainsFunc(c.services, func(s service) bool { return s.of.Metadata.Name == w.Service }), "there is no Service %q", w.Service)
	}
	for _, k := range w.Template.Spec.Containers {
		k.probed(l, "startup", k.Startup, "/healthz")
		k.probed(l, "liveness", k.Liveness, "/healthz")
		k.probed(l, "readiness", k.Readiness, "/readyz")
	}
}

// probed checks a probe. pawl serve only answers requests for its own host names, so
// its probes must name one.
func (k container) probed(l *list, name string, p *probe, path string) {
	if p == nil {
		l.want(false, "%s has no %s probe", k.Name, name)
		return
	}
	l.want(p.HTTP.Path == path, "the %s probe of %s asks %s, not %s", name, k.Name, p.HTTP.Path, path)
	l.want(k.hasPort(p.HTTP.Port), "the %s probe of %s asks the port %s, which is not there", name, k.Name, p.HTTP.Port)
	if !slices.Contains(k.Args, "serve") {
		return
	}
	host := ""
	for _, h := range p.HTTP.Headers {
		if h.Name == "Host" {
			host = h.Value
		}
	}
	known := false
	for i, arg := range k.Args {
		known = known || arg == "--host" && i+1 < len(k.Args) && k.Args[i+1] == host
	}
	l.want(known, "the %s probe of %s asks by the name %q, which no --host says", name, k.Name, host)
}

func (c *cluster) containerFaults(l *list, w workload, k container) {
	_, tag, tagged := strings.Cut(k.Image[strings.LastIndex(k.Image, "/")+1:], ":")
	l.want(tagged && tag != "latest", "the image of %s has no version", k.Name)
	for _, name := range []string{"cpu", "memory"} {
		l.want(k.Resources.Requests[name] != "", "%s requests no %s", k.Name, name)
		l.want(k.Resources.Limits[name] != "", "%s has no limit of %s", k.Name, name)
	}
	l.want(k.Security.Escalation != nil && !*k.Security.Escalation, "%s may gain privileges", k.Name)
	l.want(slices.Contains(k.Security.Capabilities.Drop, "ALL"), "%s keeps capabilities", k.Name)
	for _, m := range k.Mounts {
		l.want(w.hasVolume(m.Name), "%s mounts %s, which is not there", k.Name, m.Name)
	}
	for _, e := range k.Env {
		l.want(e.Value != "" || e.From.Secret != nil || e.From.Field != nil, "%s: %s has no value", k.Name, e.Name)
		l.want(!isSecret(e.Name) || e.From.Secret != nil, "%s: %s must come from a Secret", k.Name, e.Name)
	}
	for _, s := range k.secrets() {
		l.want(strings.Contains(c.secretsDoc, "`"+s+"`"), "deploy/README.md does not say how to make the Secret %s", s)
		l.want(s != providersSecret || w.Template.Metadata.Labels["app"] == coordinatorApp, "only %s may have the keys of the providers", coordinatorApp)
	}
}

// secrets returns the names of the Secrets that a container reads.
func (k container) secrets() []string {
	var names []string
	for _, e := range k.Env {
		if e.From.Secret != nil {
			names = append(names, e.From.Secret.Name)
		}
	}
	for _, e := range k.EnvFrom {
		if e.Secret != nil {
			names = append(names, e.Secret.Name)
		}
	}
	return names
}

// isSecret reports whether a variable holds a secret.
func isSecret(name string) bool {
	return name == "PAWL_STORE" || strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_KEY")
}
