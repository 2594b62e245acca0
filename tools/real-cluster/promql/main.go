// Parses expressions with the parser of Prometheus, one per line of its input, and prints those that it rejects. promtool
// uses the same parser, but takes minutes to build.
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	promql := parser.NewParser(parser.Options{})
	rejected := 0
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if _, err := promql.ParseExpr(lines.Text()); err != nil {
			rejected++
			fmt.Printf("%s: %v\n", lines.Text(), err)
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	if rejected > 0 {
		os.Exit(1)
	}
}
