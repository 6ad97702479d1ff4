//go:build fleet

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/blob"
	"github.com/pawl-dev/pawl/fleet/gateway"
	"github.com/pawl-dev/pawl/fleet/runner"
)

// maxSkew is how far this machine's clock may be from the store's: the times of
// events are those of the machines.
const maxSkew = 2 * time.Second

func (f *fleetFlags) check(cmd *cobra.Command) error {
	parts, ref, err := loadFleet()
	if err != nil {
		return err
	}
	if err := holdSecrets(ref); err != nil {
		return err
	}
	o := &operator{parts: parts}
	defer o.Close()
	findings := o.examine(cmd.Context(), ref)
	if f.json {
		err = writeJSON(cmd.OutOrStdout(), findings)
	} else {
		err = printFindings(cmd.OutOrStdout(), findings)
	}
	if err == nil && slices.ContainsFunc(findings, func(f finding) bool { return f.Status == checkFail }) {
		err = &exitError{code: exitFailed}
	}
	return err
}

// examine makes all checks, and returns the worst first.
func (o *operator) examine(ctx context.Context, ref string) []finding {
	findings := slices.Concat(o.examineStore(ctx, ref), o.examineEngine(ctx), []finding{
		o.examineLink(ctx), o.examineBlobs(ctx), o.examineFolder(), o.examineGateway(ctx),
	})
	for i := range findings {
		findings[i].Detail = secrets.Redact(findings[i].Detail)
	}
	rank := map[string]int{checkFail: 0, checkWarn: 1, checkOK: 2}
	slices.SortStableFunc(findings, func(a, b finding) int { return rank[a.Status] - rank[b.Status] })
	return findings
}

func (o *operator) examineStore(ctx context.Context, ref string) []finding {
	if err := o.openStore(ctx, ref); err != nil {
		fix := "start PostgreSQL, or look at PAWL_STORE"
		if pawl.CodeOf(err) == pawl.CodeDenied {
			fix = "connect as a role that owns pawl's tables and is neither a superuser nor has BYPASSRLS"
		}
		return []finding{{"store", checkFail, err.Error(), fix}}
	}
	return []finding{{"store", checkOK, "PostgreSQL keeps tenants apart", ""}, o.examineClock(ctx), o.examineHosts(ctx)}
}

func (o *operator) examineClock(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	before := time.Now()
	there, err := o.roster.Clock(ctx)
	if err != nil {
		return finding{"clock", checkFail, err.Error(), "look at PostgreSQL's log"}
	}
	skew := before.Add(time.Since(before) / 2).Sub(there).Round(time.Millisecond)
	if skew.Abs() > maxSkew {
		return finding{"clock", checkWarn, fmt.Sprintf("this machine's clock is %s from the store's", skew), "keep the clocks of all machines together with NTP"}
	}
	return finding{"clock", checkOK, fmt.Sprintf("%s from the store's", skew), ""}
}

func (o *operator) examineHosts(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	hosts, err := o.roster.Hosts(ctx)
	if err != nil {
		return finding{"hosts", checkFail, err.Error(), "look at PostgreSQL's log"}
	}
	usable, others := 0, []string{}
	for _, h := range hosts {
		if state := hostState(h); state != "live" {
			others = append(others, h.Name+" is "+state)
		} else {
			usable++
		}
	}
	detail := strings.Join(append([]string{fmt.Sprintf("%d can take work", usable)}, others...), ", ")
	switch {
	case usable == 0:
		return finding{"hosts", checkFail, detail, "start 'pawl worker' on a host, or end its draining with 'pawl fleet drain HOST --undo'"}
	case len(others) > 0:
		return finding{"hosts", checkWarn, detail, "see docs/guide/fleet-runbook.md; a host that is gone for good is forgotten after a day"}
	}
	return finding{"hosts", checkOK, detail, ""}
}

func (o *operator) examineEngine(ctx context.Context) []finding {
	if err := o.openEngine(ctx); err != nil {
		return []finding{{"temporal", checkFail, err.Error(), "start Temporal, or set fleet.temporal to its host:port"}}
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	queues, err := runner.Queues(ctx, o.parts.engine)
	if err != nil {
		return []finding{{"temporal", checkFail, err.Error(), fmt.Sprintf("make the namespace: temporal operator namespace create --namespace %s", o.parts.Namespace)}}
	}
	findings := []finding{{"temporal", checkOK, fmt.Sprintf("%s, namespace %s", o.parts.Temporal, o.parts.Namespace), ""}}
	if queues[0].Pollers == 0 {
		findings = append(findings, finding{"coordinators", checkFail, "no worker asks for workflows", "start 'pawl worker --role coordinator'"})
	} else {
		findings = append(findings, finding{"coordinators", checkOK, fmt.Sprintf("%d pollers", queues[0].Pollers), ""})
	}
	return append(findings, o.examineVersions(ctx, queues[0]))
}

func (o *operator) examineVersions(ctx context.Context, coordinators runner.Queue) finding {
	versions, err := runner.Versions(ctx, o.parts.engine)
	if err != nil {
		return finding{"versions", checkFail, err.Error(), "look at Temporal's log"}
	}
	current := runner.Current(versions)
	switch {
	case current != "" && coordinators.Pollers > 0 && !slices.Contains(coordinators.Versions, current):
		return finding{"versions", checkFail, fmt.Sprintf("new work goes to version %s, which no worker has", current), "promote one that a worker has: 'pawl fleet promote VERSION'"}
	case current == "" && len(coordinators.Versions) > 0:
		return finding{"versions", checkFail, "no version is promoted, so the workers get no work", "'pawl fleet promote " + coordinators.Versions[0] + "'"}
	case current == "":
		return finding{"versions", checkWarn, "the workers have no versions", "start them with --build-id, so that an upgrade leaves the work of the old ones alone"}
	}
	return finding{"versions", checkOK, current + " is current", ""}
}

func (o *operator) examineLink(ctx context.Context) finding {
	if err := o.openLink(ctx); err != nil {
		return finding{"nats", checkWarn, err.Error(), "start NATS, or set fleet.nats; until then events are seen late, and none is lost"}
	}
	return finding{"nats", checkOK, "connected", ""}
}

// examineBlobs writes a blob, reads it and removes it.
func (o *operator) examineBlobs(ctx context.Context) finding {
	if o.parts.Blobs == "" {
		return finding{"checkpoints", checkWarn, "there is no store for them: a host that is lost takes its workspaces with it", "set fleet.blobs to s3://… or to a folder that all hosts share"}
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := tryBlobs(ctx, o.parts.Blobs); err != nil {
		return finding{"checkpoints", checkFail, err.Error(), "look at fleet.blobs, its keys (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) and what they may do: put, get, list and delete"}
	}
	return finding{"checkpoints", checkOK, "can be written, read and removed", ""}
}

func tryBlobs(ctx context.Context, ref string) error {
	blobs, err := blob.Open(ctx, ref)
	if err != nil {
		return err
	}
	key, text := "check/"+strings.ToLower(ulid.Make().String()), "pawl fleet check"
	if err := blobs.Put(ctx, key, strings.NewReader(text)); err != nil {
		return err
	}
	defer func() { _ = blobs.Delete(context.WithoutCancel(ctx), key) }() // also if it cannot be read
	r, err := blobs.Get(ctx, key)
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if string(got) != text {
		return fmt.Errorf("what was written is not what is read, which is %q: %w", got, pawl.ErrUnavailable)
	}
	return blobs.Delete(ctx, key)
}

// examineFolder tries the directory of the workspaces, which only hosts need.
func (o *operator) examineFolder() finding {
	const fix = "on a host: make the folder, on a disk of its own; elsewhere it is not needed"
	f, err := os.CreateTemp(o.parts.Workspaces, ".check-*")
	if err != nil {
		return finding{"workspaces", checkWarn, err.Error(), fix}
	}
	_ = f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return finding{"workspaces", checkWarn, err.Error(), fix}
	}
	free, err := freeBytes(o.parts.Workspaces)
	if err != nil {
		return finding{"workspaces", checkWarn, err.Error(), fix}
	}
	return finding{"workspaces", checkOK, fmt.Sprintf("%s, %s free", o.parts.Workspaces, sizeText(free)), ""}
}

func (o *operator) examineGateway(ctx context.Context) finding {
	if o.parts.Gateway == "" {
		return finding{"gateway", checkWarn, "there is none: hosts ask the models themselves and need the keys", "have coordinators answer with --gateway-listen, and set fleet.gateway where the executors run"}
	}
	if o.parts.token == "" {
		return finding{"gateway", checkFail, "it wants a token", "set PAWL_GATEWAY_TOKEN to the one that the coordinators have"}
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	models, err := (&gateway.Client{URL: o.parts.Gateway, Token: o.parts.token}).Models(ctx)
	if err != nil {
		return finding{"gateway", checkFail, err.Error(), "start a coordinator with --gateway-listen, and look at fleet.gateway and PAWL_GATEWAY_TOKEN"}
	}
	return finding{"gateway", checkOK, fmt.Sprintf("%s, %d models", o.parts.Gateway, len(models)), ""}
}
