package traffic

import (
	"fmt"
	"strconv"
)

// Tools are the functions that each request of chat and responses offers for calls. The zero value offers none.
type Tools struct {
	Offered  int  // made-up functions, each of which takes a text
	Required bool // tool_choice is required: the answer is a call; else it is auto, which is the model's choice
}

const mostTools = 128 // that OpenAI takes

// Values of tool_choice.
const (
	choiceAuto     = "auto"
	choiceRequired = "required"
)

func (t *Tools) setOffered(text string) (err error) {
	if t.Offered, err = strconv.Atoi(text); err != nil || t.Offered < 1 || t.Offered > mostTools {
		return fmt.Errorf("tools=%s is no number of functions up to %d, as in endpoint=chat,tools=4", text, mostTools)
	}
	return nil
}

func (t *Tools) setChoice(text string) error {
	if text != choiceAuto && text != choiceRequired {
		return fmt.Errorf("tool_choice=%s is neither auto nor required, as in tools=4,tool_choice=required", text)
	}
	t.Required = text == choiceRequired
	return nil
}

// choice is what the text of a workload has; auto is the default of the API and has none.
func (t Tools) choice() string {
	if t.Required {
		return choiceRequired
	}
	return ""
}

// check refuses tools where no request can offer them.
func (t Tools) check(s Shape) error {
	switch {
	case t.Required && t.Offered == 0:
		return fmt.Errorf("tool_choice is of the functions that are offered: endpoint=chat,tools=4,tool_choice=required")
	case t.Offered > 0 && !s.Endpoint.Talks():
		return fmt.Errorf("tools are offered in chat or responses: endpoint=chat,tools=%d", t.Offered)
	case t.Offered > 0 && s.Turns > 1:
		return fmt.Errorf("tools and turns exclude each other: no result of a call is made up")
	}
	return nil
}
