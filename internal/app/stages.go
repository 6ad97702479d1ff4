package app

import (
	"context"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/mission/webhook"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/redact"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/local"
	"github.com/pawl-dev/pawl/internal/store/backend"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/lsp"
	"github.com/pawl-dev/pawl/internal/workspace/isolate"
)

// stage opens one component. It must register the component with onClose as soon as it is open.
type stage struct {
	name string
	open func(b *builder, ctx context.Context) error
}

// stages lists the components in the order in which Open opens them. Close runs in reverse order:
// the runner stops first; telemetry and the store, which the others use, close last.
var stages = []stage{
	{"store", (*builder).openStore},
	{"telemetry", (*builder).openTelemetry},
	{"notices", (*builder).openNotices},
	{"policy", (*builder).openPolicy},
	{"jobs", (*builder).openJobs},
	{"language servers", (*builder).openLanguageServers},
	{"tools", (*builder).openTools},
	{"models", (*builder).openModels},
	{"agent", (*builder).configureAgent},
	{"MCP servers", (*builder).openMCPServers},
	{"projects", (*builder).openProjects},
	{"runner", (*builder).openRunner},
}

// builder holds the components that later stages need from earlier ones.
type builder struct {
	*App
	options Options
	jobs    *tool.Jobs
	lsp     *lsp.Servers
	tools   *tool.Registry
	models  Models
	notices *webhook.Sender
	agent   agent.Config
	front   service.Config
}

func (b *builder) openStore(ctx context.Context) error {
	ref, err := config.Store()
	if err != nil {
		return err
	}
	if err := RegisterSecrets(ref); err != nil {
		return err
	}
	if b.RawStore, err = backend.Open(ctx, ref); err != nil {
		return err
	}
	b.Store = redact.NewStore(instrument(b.RawStore), Secrets)
	b.onClose("store", b.Store.Close)
	return nil
}

func (b *builder) openTelemetry(context.Context) (err error) {
	if b.Telemetry, err = openTelemetry(); err != nil {
		return err
	}
	b.onClose("telemetry", func() error {
		closeTelemetry(b.Telemetry)
		return nil
	})
	return nil
}

func (b *builder) openPolicy(ctx context.Context) (err error) {
	if b.Policy, err = policy.Open(); err != nil {
		return err
	}
	b.Policy.Builtins = BuiltinHooks()
	b.Missions = newMissions(b.Policy)
	views, err := config.Isolated()
	if err != nil {
		return err
	}
	isolate.Store{Dir: views}.Recover(ctx)
	return b.Policy.Recover(ctx)
}

func (b *builder) openJobs(context.Context) error {
	b.jobs = tool.NewJobs(Secrets.Blobs(b.Store), b.Policy)
	b.jobs.Redact = Secrets
	b.onClose("jobs", func() error {
		b.jobs.Close()
		return nil
	})
	return nil
}

func (b *builder) openLanguageServers(context.Context) (err error) {
	if b.lsp, err = openLanguageServers(b.Policy); err != nil {
		return err
	}
	b.onClose("language servers", func() error {
		b.lsp.Close()
		return nil
	})
	return nil
}

func (b *builder) openTools(context.Context) (err error) {
	if b.tools, err = newTools(tool.Config{Blobs: Secrets.Blobs(b.Store), Jobs: b.jobs, Faults: b.lsp}); err != nil {
		return err
	}
	b.tools, err = b.tools.With(b.Missions.Tools()...)
	return err
}

func (b *builder) openModels(context.Context) (err error) {
	if b.models = b.options.Models; b.models != nil {
		return nil
	}
	opener, err := newModels(&b.catalog)
	b.models, b.opener = opener, opener
	return err
}

// configureAgent configures the agent's loop and the service with the components opened so far.
func (b *builder) configureAgent(ctx context.Context) error {
	events := b.Telemetry.Watch(b.notices.Watch(bus.New(b.Store, bus.Config{Link: b.options.Link})))
	b.Buffers = &EditorBuffers{}
	b.agent = agent.Config{
		Store: b.Store, Bus: events, Model: b.models.Open, Window: b.models.Window, SummaryModel: b.models.Small, SmallModel: b.models.Sibling,
		Tools: b.tools, Authority: b.authority(), Hooks: b.Policy, Redact: Secrets, SubagentEnded: b.jobs.End, Missions: b.Missions, Buffers: b.Buffers.Get,
		Commands: b.Policy.Commands(), Unattended: b.options.Unattended,
	}
	if err := useExtensions(b.Policy, &b.agent); err != nil {
		return err
	}
	known := b.agent // a copy without MCP servers: a check must not start any
	b.front = service.Config{Store: b.Store, Bus: events, Model: ConfiguredModel, Check: func(ctx context.Context, dir string, s pawl.Settings) error {
		if err := b.checkDirs(dir, s.AddDirs); err != nil {
			return err
		}
		return checkSettings(ctx, b.models, &known, dir, s)
	}}
	useSnapshots(ctx, &b.agent, &b.front)
	return nil
}

// checkDirs returns an error unless a session in dir may have further project directories.
func (b *builder) checkDirs(dir string, more []string) error {
	for _, dir := range more {
		if allow := b.options.AllowDir; allow != nil {
			if err := allow(dir); err != nil {
				return err
			}
		}
	}
	return b.Policy.CheckDirs(dir, more)
}

// authority returns the policy, limited to the directories of AllowDir and to the worktrees of missions.
func (b *builder) authority() agent.Authority {
	if b.options.AllowDir == nil {
		return b.Policy
	}
	return confined{b.Policy, b.options.AllowDir}
}

// confined is a policy for some directories only.
type confined struct {
	*policy.Safety
	allow func(dir string) error
}

// Policy returns the policy for calls in a directory that is allowed.
func (c confined) Policy(ctx context.Context, id pawl.SessionID, dir string, s pawl.Settings) (permission.Policy, error) {
	if err := c.allow(dir); err != nil {
		if _, worktree, unknown := c.Worktree(dir); unknown != nil || !worktree {
			return permission.Policy{}, err
		}
	}
	for _, dir := range s.AddDirs {
		if err := c.allow(dir); err != nil {
			return permission.Policy{}, err
		}
	}
	return c.Safety.Policy(ctx, id, dir, s)
}

func (b *builder) openMCPServers(context.Context) (err error) {
	tools := b.agent.Tools
	if b.MCP, err = newMCPServers(b.Policy, func(name string) bool { _, taken := tools.Tool(name); return taken }); err != nil {
		return err
	}
	b.onClose("MCP servers", func() error {
		b.MCP.Close()
		return nil
	})
	useMCPServers(b.MCP, &b.agent)
	return nil
}

func (b *builder) openProjects(context.Context) (err error) {
	if b.Projects, err = newProjects(b.Policy, b.Store, b.MCP, &b.catalog); err != nil {
		return err
	}
	b.onClose("projects", func() error {
		b.Projects.Close()
		return nil
	})
	if b.front.Projects = b.options.Projects; b.front.Projects == nil {
		b.front.Projects = b.Projects
	}
	return nil
}

// admit returns an error unless this process sees the files that a session works on: those
// of an isolated session are in its view.
func (b *builder) admit(ctx context.Context, id pawl.SessionID) error {
	views, err := config.Isolated()
	if err != nil {
		return err
	}
	row, err := b.Store.Session(ctx, id)
	if err != nil {
		return err
	}
	return isolate.Store{Dir: views}.Admit(id, row.Dir)
}

func (b *builder) openRunner(context.Context) (err error) {
	stepper := agent.NewStepper(b.agent)
	b.front.PlanUndo = stepper.PlanUndo
	if err := b.useSessions(stepper); err != nil {
		return err
	}
	if b.options.Run == nil {
		b.Runner = local.New(local.Config{Stepper: stepper, Admit: b.admit})
		b.onClose("runner", func() error {
			b.Runner.Close()
			return nil
		})
		b.front.Runner, b.front.Abandoned = b.Runner, b.Runner.Abandoned
	} else if b.front.Runner, err = b.options.Run(b.App, stepper, &b.front); err != nil {
		return err
	}
	b.Service = service.New(b.front)
	stepper.Service, b.Missions.Sessions = b.Service, b.Service // subagents are sessions like any other
	return nil
}
