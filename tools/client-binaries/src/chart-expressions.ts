/** The PromQL expressions of a rendered chart: those of its alerts and of its dashboards. */
import type { UnknownObject } from '@reeve/kube'

/** An expression and where it is used. */
export interface ChartExpression {
  /** The name of the alert, or the title of the panel. */
  readonly usedBy: string
  readonly expression: string
}

/** The expressions of every PrometheusRule, and of every ConfigMap with a Grafana dashboard. */
export function chartExpressions(objects: readonly UnknownObject[]): readonly ChartExpression[] {
  return objects.flatMap((object) => {
    if (object.kind === 'PrometheusRule') return alertExpressions(object)
    const isDashboard = object.kind === 'ConfigMap' && object.metadata.labels?.grafana_dashboard !== undefined
    return isDashboard ? dashboardExpressions(object) : []
  })
}

function alertExpressions({ spec }: UnknownObject): readonly ChartExpression[] {
  // As the Prometheus operator defines it.
  const { groups } = spec as { groups: readonly { rules: readonly { alert: string; expr: string }[] }[] }
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ usedBy: alert, expression: expr })))
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[]
}

function dashboardExpressions({ data }: UnknownObject): readonly ChartExpression[] {
  // A ConfigMap has nothing but texts.
  const dashboards: readonly Dashboard[] = Object.values(data as Record<string, string>).map((text) => JSON.parse(text))
  return dashboards
    .flatMap(({ panels }) => panels)
    .flatMap(({ title, targets }) => targets.map(({ expr }) => ({ usedBy: title, expression: expr })))
}

/** Words that stand between expressions, where a metric could stand as well. */
const OPERATORS = new Set(['and', 'or', 'unless', 'bool', 'offset'])

/**
 * The names of the metrics in an expression.
 *
 * @example
 * metricNames('sum by (le) (rate(reconcile_duration_seconds_bucket{controller="webapp"}[5m])) > 5')
 * // ['reconcile_duration_seconds_bucket']
 */
export function metricNames(expression: string): readonly string[] {
  const bare = expression
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, ' ')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
  const words = bare.matchAll(/(?<![\w.])([a-zA-Z_:][\w:]*)\s*(\()?/g)
  const names = [...words].flatMap(([, word = '', call]) => (call === undefined && !OPERATORS.has(word) ? [word] : []))
  return [...new Set(names)]
}

/** The names that a scrape exposes, with the series of its histograms. */
export function exposedNames(scrape: string): ReadonlySet<string> {
  const declared = scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)
  return new Set(
    [...declared].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  )
}
