package command

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
	"github.com/pawl-dev/pawl/fleet/node"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/doctor"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
)

func checkCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the services and hosts of a fleet",
		Long: `Check that the services of a fleet are reachable from this host and configured
correctly: the database role that isolates tenants, the clocks, polling workers, and a
writable checkpoint store. Problems come first, each with a fix. The command writes and
deletes one small blob, and changes nothing else.

Exit codes: 0 the fleet works, perhaps with limitations; 1 it does not.`,
		Example: `  pawl-fleet check
  pawl-fleet check --json | jq -r '.[] | select(.status != "ok") | .fix'`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.check(cmd) },
	}
	f.addJSON(cmd)
	return cmd
}

// maxSkew is the maximum difference between the clocks of this host and the store: events carry the time of the host
// that wrote them.
const maxSkew = 2 * time.Second

func (f *flags) check(cmd *cobra.Command) error {
	i, ref, err := node.NewInspector()
	if err != nil {
		return err
	}
	c := &checker{i}
	defer c.Close()
	findings := c.checkAll(cmd.Context(), ref)
	if f.json {
		err = cli.WriteJSON(cmd.OutOrStdout(), findings)
	} else {
		err = doctor.PrintFindings(cmd.OutOrStdout(), findings)
	}
	if err == nil && slices.ContainsFunc(findings, func(f doctor.Finding) bool { return f.Status == doctor.Fail }) {
		err = &cli.ExitError{Code: cli.ExitFailed}
	}
	return err
}

// checker checks the parts of a fleet.
type checker struct{ *node.Inspector }

func finding(name, status, detail, fix string) doctor.Finding {
	return doctor.Finding{Name: name, Status: status, Detail: detail, Fix: fix}
}

// checkAll runs all checks and returns the findings, the worst first.
func (c *checker) checkAll(ctx context.Context, ref string) []doctor.Finding {
	findings := slices.Concat(c.checkStore(ctx, ref), c.checkEngine(ctx), []doctor.Finding{
		c.checkLink(ctx), c.checkBlobs(ctx), c.checkFolder(), c.checkGateway(ctx),
	})
	for i := range findings {
		findings[i].Detail = app.Secrets.Redact(findings[i].Detail)
	}
	rank := map[string]int{doctor.Fail: 0, doctor.Warn: 1, doctor.OK: 2}
	slices.SortStableFunc(findings, func(a, b doctor.Finding) int { return rank[a.Status] - rank[b.Status] })
	return findings
}

func (c *checker) checkStore(ctx context.Context, ref string) []doctor.Finding {
	if err := c.OpenStore(ctx, ref); err != nil {
		fix := "Start PostgreSQL, or check PAWL_STORE."
		if pawl.CodeOf(err) == pawl.CodeDenied {
			fix = "Connect as a role that owns Pawl's tables, is not a superuser and does not have BYPASSRLS."
		}
		return []doctor.Finding{finding("store", doctor.Fail, err.Error(), fix)}
	}
	return []doctor.Finding{finding("store", doctor.OK, "PostgreSQL, tenants are isolated", ""), c.checkClock(ctx), c.checkHosts(ctx)}
}

func (c *checker) checkClock(ctx context.Context) doctor.Finding {
	ctx, cancel := context.WithTimeout(ctx, node.QueryTimeout)
	defer cancel()
	before := time.Now()
	there, err := c.Hosts.Clock(ctx)
	if err != nil {
		return finding("clock", doctor.Fail, err.Error(), "Check the log of PostgreSQL.")
	}
	skew := before.Add(time.Since(before) / 2).Sub(there).Round(time.Millisecond)
	if skew.Abs() > maxSkew {
		return finding("clock", doctor.Warn, fmt.Sprintf("this host's clock differs from the store's by %s", skew), "Synchronize the clocks of all hosts with NTP.")
	}
	return finding("clock", doctor.OK, fmt.Sprintf("differs from the store's by %s", skew), "")
}

func (c *checker) checkHosts(ctx context.Context) doctor.Finding {
	ctx, cancel := context.WithTimeout(ctx, node.QueryTimeout)
	defer cancel()
	hosts, err := c.Hosts.Hosts(ctx)
	if err != nil {
		return finding("hosts", doctor.Fail, err.Error(), "Check the log of PostgreSQL.")
	}
	usable, others := 0, []string{}
	for _, h := range hosts {
		if state := node.HostState(h); state != "live" {
			others = append(others, h.Name+" is "+state)
		} else {
			usable++
		}
	}
	detail := strings.Join(append([]string{fmt.Sprintf("%d available", usable)}, others...), ", ")
	switch {
	case usable == 0:
		return finding("hosts", doctor.Fail, detail, "Start `pawl-fleet worker` on a host, or run `pawl-fleet drain HOST --undo`.")
	case len(others) > 0:
		return finding("hosts", doctor.Warn, detail, "See docs/how-to/fleet-runbook.md. A removed host disappears from the list after a day.")
	}
	return finding("hosts", doctor.OK, detail, "")
}

func (c *checker) checkEngine(ctx context.Context) []doctor.Finding {
	if err := c.OpenEngine(ctx); err != nil {
		return []doctor.Finding{finding("temporal", doctor.Fail, err.Error(), "Start Temporal, or set fleet.temporal to its host:port.")}
	}
	ctx, cancel := context.WithTimeout(ctx, node.QueryTimeout)
	defer cancel()
	queues, err := runner.Queues(ctx, c.Engine)
	if err != nil {
		return []doctor.Finding{finding("temporal", doctor.Fail, err.Error(), fmt.Sprintf("Create the namespace: `temporal operator namespace create --namespace %s`.", c.Namespace))}
	}
	findings := []doctor.Finding{finding("temporal", doctor.OK, fmt.Sprintf("%s, namespace %s", c.Temporal, c.Namespace), "")}
	if queues[0].Pollers == 0 {
		findings = append(findings, finding("coordinators", doctor.Fail, "no worker polls for workflows", "Start `pawl-fleet worker --role coordinator`."))
	} else {
		findings = append(findings, finding("coordinators", doctor.OK, humanize.Plural(queues[0].Pollers, "poller"), ""))
	}
	return append(findings, c.checkVersions(ctx, queues[0]))
}

func (c *checker) checkVersions(ctx context.Context, coordinators runner.Queue) doctor.Finding {
	versions, err := runner.Versions(ctx, c.Engine)
	if err != nil {
		return finding("versions", doctor.Fail, err.Error(), "Check the log of Temporal.")
	}
	current := runner.Current(versions)
	switch {
	case current != "" && coordinators.Pollers > 0 && !slices.Contains(coordinators.Versions, current):
		return finding("versions", doctor.Fail, fmt.Sprintf("the current version %s has no workers", current), "Run `pawl-fleet promote VERSION` with a version that has workers.")
	case current == "" && len(coordinators.Versions) > 0:
		return finding("versions", doctor.Fail, "no version is current, so the workers get no work", "Run `pawl-fleet promote "+coordinators.Versions[0]+"`.")
	case current == "":
		return finding("versions", doctor.Warn, "the workers have no versions", "Start them with --build-id, so that upgrades do not affect running work.")
	}
	return finding("versions", doctor.OK, current+" is current", "")
}

func (c *checker) checkLink(ctx context.Context) doctor.Finding {
	if err := c.OpenLink(ctx); err != nil {
		return finding("nats", doctor.Warn, err.Error(), "Start NATS, or set fleet.nats. Without it events are delayed, but not lost.")
	}
	return finding("nats", doctor.OK, "connected", "")
}

// checkBlobs writes a blob, reads it and deletes it.
func (c *checker) checkBlobs(ctx context.Context) doctor.Finding {
	if c.Blobs == "" {
		return finding("checkpoints", doctor.Warn, "no checkpoint store: if a host fails, its workspaces are lost", "Set fleet.blobs to s3://… or to a directory that all hosts share.")
	}
	ctx, cancel := context.WithTimeout(ctx, node.QueryTimeout)
	defer cancel()
	if err := tryBlobs(ctx, c.Blobs); err != nil {
		return finding("checkpoints", doctor.Fail, err.Error(), "Check fleet.blobs, its keys (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) and their permissions: put, get, list and delete.")
	}
	return finding("checkpoints", doctor.OK, "writable", "")
}

func tryBlobs(ctx context.Context, ref string) error {
	blobs, err := blob.Open(ctx, ref)
	if err != nil {
		return err
	}
	key, text := "check/"+strings.ToLower(ulid.Make().String()), "pawl-fleet check"
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
		return fault.New(pawl.ErrUnavailable, "the checkpoint store returned different data than was written: %q", got)
	}
	return blobs.Delete(ctx, key)
}

// checkFolder checks that the directory of the workspaces is writable. Only hosts need it.
func (c *checker) checkFolder() doctor.Finding {
	const fix = "On a host, create the directory, preferably on a separate disk. Other hosts do not need it."
	f, err := os.CreateTemp(c.Workspaces, ".check-*")
	if err != nil {
		return finding("workspaces", doctor.Warn, err.Error(), fix)
	}
	_ = f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return finding("workspaces", doctor.Warn, err.Error(), fix)
	}
	free, err := node.FreeBytes(c.Workspaces)
	if err != nil {
		return finding("workspaces", doctor.Warn, err.Error(), fix)
	}
	return finding("workspaces", doctor.OK, fmt.Sprintf("%s, %s free", c.Workspaces, humanize.IBytes(free)), "")
}

func (c *checker) checkGateway(ctx context.Context) doctor.Finding {
	if c.Gateway == "" {
		return finding("gateway", doctor.Warn, "none: the hosts call the models directly and need API keys", "Start coordinators with --gateway-listen, and set fleet.gateway for the executors.")
	}
	if c.GatewayToken == "" {
		return finding("gateway", doctor.Fail, "no token configured", "Set PAWL_GATEWAY_TOKEN to the token of the coordinators.")
	}
	ctx, cancel := context.WithTimeout(ctx, node.QueryTimeout)
	defer cancel()
	models, err := (&gateway.Client{URL: c.Gateway, Token: c.GatewayToken}).Models(ctx)
	if err != nil {
		return finding("gateway", doctor.Fail, err.Error(), "Start a coordinator with --gateway-listen, and check fleet.gateway and PAWL_GATEWAY_TOKEN.")
	}
	return finding("gateway", doctor.OK, fmt.Sprintf("%s, %s", c.Gateway, humanize.Plural(len(models), "model")), "")
}
