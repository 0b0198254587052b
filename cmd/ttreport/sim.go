package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/collect/server/sim"
)

func simCommand(sh *shell) *cobra.Command {
	cfg, port, slower, key := sim.Defaults(), 8000, 0., ""
	return command("sim", map[string]any{
		"port": &port, "model": &cfg.Model, "errors": &cfg.Errors, "reasoning": &cfg.Reasoning, "slower": &slower,
		"seed": &cfg.Seed, "max-num-seqs": &cfg.MaxBatch, "max-num-batched-tokens": &cfg.ChunkTokens,
		"prefix-cache": &cfg.CacheTokens, "block-size": &cfg.CacheBlock, "acceptance": &cfg.Acceptance, "key-from": &key,
	}, func(c *cobra.Command, _ []string) error {
		if !slices.IsSortedFunc(append([]float64{1}, append(cfg.Acceptance, 0)...), func(a, b float64) int {
			return cmp.Compare(b, a)
		}) {
			return fail(exitUsage, "a token can be accepted only after the one before it: --acceptance 0.8,0.5",
				"sim: --acceptance must be shares from 1 to 0, each at most the one before, got %v", cfg.Acceptance)
		}
		if cfg.Key = os.Getenv(key); key != "" && cfg.Key == "" {
			return fail(exitUsage, "set it, or leave --key-from out", "sim: --key-from: %s is not set", key)
		}
		cfg.StepBase = time.Duration(float64(cfg.StepBase) * (1 + slower))
		cfg.Addr = fmt.Sprintf("127.0.0.1:%d", port)
		s, err := sim.Start(cfg)
		if err != nil {
			return fail(exitCollect, "choose another --port", "%w", err)
		}
		defer s.Stop()
		sh.say("serving   %s at %s, simulated  (Ctrl-C stops it)", cfg.Model, s.URL())
		<-c.Context().Done()
		return nil
	})
}
