package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
)

func devCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Tools for testing pawl and what you build with it",
		Args:  usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(fakeProviderCommand())
	return cmd
}

type fakeProviderFlags struct {
	script, listen, key string
	public              bool
}

func fakeProviderCommand() *cobra.Command {
	var f fakeProviderFlags
	cmd := &cobra.Command{
		Use:   "fake-provider --script FILE",
		Short: "Serve a script of replies over the protocols of the real providers",
		Long: `Serve a script of replies over the protocols of the real providers: Anthropic
Messages, OpenAI Chat Completions and Responses, Gemini. It prints the base
URLs, then a line on standard error for each request, until it is interrupted.`,
		Example: `  pawl dev fake-provider --script demo.jsonl
  pawl dev fake-provider --script demo.jsonl --listen 127.0.0.1:8080 --key secret`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.Flags().StringVar(&f.script, "script", "", "the `file` of replies")
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "the `address` to listen on; port 0 means any that is free")
	cmd.Flags().StringVar(&f.key, "key", "", "refuse requests without this API key")
	cmd.Flags().BoolVar(&f.public, "public", false, "allow an address that other machines can reach")
	return cmd
}

func (f *fakeProviderFlags) run(cmd *cobra.Command) error {
	if f.script == "" {
		return usageError(cmd, errors.New("--script is missing"))
	}
	m, err := fakeprovider.Open(f.script)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	listener, err := f.open(ctx)
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String()
	fmt.Fprintf(cmd.OutOrStdout(), "anthropic=%[1]s openai=%[1]s/v1 gemini=%[1]s\n", url)
	srv := &http.Server{
		Handler: fakeprovider.Handler(m, fakeprovider.Config{Key: f.key, Log: func(r fakeprovider.Record) {
			fmt.Fprintln(cmd.ErrOrStderr(), logLine(r))
		}}),
		ReadHeaderTimeout: 10 * time.Second,
	}
	go func() {
		<-ctx.Done()
		_ = srv.Close() // the program ends
	}()
	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// open listens on the loopback unless it was told that others may come in:
// the server takes any request, and a script may hold what is nobody's business.
func (f *fakeProviderFlags) open(ctx context.Context) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return nil, err
	}
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !f.public && (!ok || !addr.IP.IsLoopback()) {
		return nil, errors.Join(fmt.Errorf("--listen %s: other machines can reach that; add --public if they may", f.listen), listener.Close())
	}
	return listener, nil
}

// logLine is a request in one line.
func logLine(r fakeprovider.Record) string {
	outcome := "dropped"
	if r.Status != 0 {
		outcome = strconv.Itoa(r.Status)
	}
	line := fmt.Sprintf("%s reply %d: %s", r.Protocol, r.Position+1, outcome)
	if r.Attempt > 1 {
		line += fmt.Sprintf(", attempt %d", r.Attempt)
	}
	switch {
	case r.Message != "":
		line += ": " + r.Message
	case r.Fault.Kind != "":
		line += ", fault " + r.Fault.String()
	}
	return line
}
