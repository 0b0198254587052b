package workspace

import (
	"fmt"
	"net/url"
	"strings"
)

// Addresses are addresses with holes, by component: {vllm: https://example.org/vllm/commit/{commit}}. One alone, under
// "", is that of whatever component a run has, where it has one.
type Addresses map[string]string

// UnmarshalYAML reads one address, or one for each component.
func (a *Addresses) UnmarshalYAML(read func(any) error) error {
	var one string
	if err := read(&one); err == nil {
		*a = Addresses{"": one}
		return nil
	}
	return read((*map[string]string)(a))
}

// check reports an address that is none, or lacks a hole.
func (a Addresses) check(setting, example string, holes ...string) error {
	for _, address := range a {
		filled := address
		for _, hole := range holes {
			if !strings.Contains(address, hole) {
				return fmt.Errorf("site.%s: %q has no %s; for example %s", setting, address, hole, example)
			}
			filled = strings.ReplaceAll(filled, hole, "1")
		}
		u, err := url.Parse(filled)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(filled, " {}") {
			return fmt.Errorf("site.%s: %q is no address; for example %s", setting, address, example)
		}
		if u.User != nil {
			return fmt.Errorf("site.%s: an address with a password would be published; for example %s", setting, example)
		}
	}
	return nil
}

// check reports settings that make no site.
func (s *Site) check() error {
	const where = "https://github.com/acme/engine/"
	if err := s.CommitURL.check("commit_url", where+"commit/{commit}", "{commit}"); err != nil {
		return err
	}
	return s.CompareURL.check("compare_url", where+"compare/{from}...{to}", "{from}", "{to}")
}
