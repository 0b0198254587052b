package sim

import (
	"container/list"
	"hash/fnv"
)

// prefixCache knows the beginnings of prompts in blocks of tokens, as vLLM's does: a block is found where all before it
// are, never the last token of a prompt, and what was used longest ago makes room, of a prompt its end first. Answers
// are not kept. nil finds nothing.
type prefixCache struct {
	size, most    int        // tokens of a block; blocks
	used          *list.List // of keys, the newest first
	at            map[uint64]*list.Element
	queried, hits int // tokens
}

// keys are those of the whole blocks of a prompt, each of all tokens up to its end.
func (c *prefixCache) keys(tokens []string) (out []uint64) {
	if c == nil {
		return nil
	}
	h := fnv.New64a()
	for i, token := range tokens {
		_, _ = h.Write(append([]byte(token), ' ')) // never fails
		if (i+1)%c.size == 0 {
			out = append(out, h.Sum64())
		}
	}
	return out
}

// find returns how many tokens of a prompt are known, and takes it in.
func (c *prefixCache) find(prompt int, keys []uint64) (tokens int) {
	if c == nil {
		return 0
	}
	for _, key := range keys {
		if c.at[key] == nil || tokens+c.size >= prompt {
			break
		}
		tokens += c.size
	}
	for i := len(keys) - 1; i >= 0; i-- {
		if known := c.at[keys[i]]; known != nil {
			c.used.MoveToFront(known)
		} else {
			c.at[keys[i]] = c.used.PushFront(keys[i])
		}
	}
	for c.used.Len() > c.most {
		oldest := c.used.Back()
		key, _ := c.used.Remove(oldest).(uint64)
		delete(c.at, key)
	}
	c.queried, c.hits = c.queried+prompt, c.hits+tokens
	return tokens
}
