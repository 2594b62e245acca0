/** A chart of values in time, drawn by uPlot in the colours of the page. */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { timeOfDay } from '../state/clock.ts'
import { useTheme } from '../state/viewport.ts'
import 'uplot/dist/uPlot.min.css'

/** One line of a chart. */
export interface Series {
  readonly name: string
  readonly values: readonly number[]
}

const HEIGHT = 130
const PALETTE = ['--line-1', '--line-2', '--line-3', '--line-4', '--line-5', '--line-6']

/** The chart. Its last values are in its text, for those who cannot see it. */
export function Chart(props: {
  readonly title: string
  readonly timesMs: readonly number[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
}) {
  const { title, timesMs, series, format } = props
  const holder = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const names = series.map(({ name }) => name).join()
  const theme = useTheme()
  useEffect(() => {
    const element = holder.current
    if (element === null) return undefined
    plot.current = create(element, names === '' ? [] : names.split(','), format)
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [names, theme])
  useEffect(() => {
    plot.current?.setData([timesMs.map((ms) => ms / 1_000), ...series.map(({ values }) => [...values])])
  })
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div ref={holder} aria-hidden="true" />
      <ul class="legend">
        {series.map(({ name, values }, index) => (
          <li key={name}>
            <span class={`swatch line-${(index % PALETTE.length) + 1}`} aria-hidden="true" />
            {name} <span class="number">{format(values.at(-1) ?? 0)}</span>
          </li>
        ))}
      </ul>
    </figure>
  )
}

function create(element: HTMLElement, names: readonly string[], format: (value: number) => string): uPlot {
  const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
  const font = '11px system-ui, sans-serif'
  return new uPlot(
    {
      width: element.clientWidth || 300,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      padding: [8, 8, 0, 0],
      scales: { y: { range: (_plot, _min, max) => [0, Math.max(max * 1.15, 1)] } },
      axes: [
        { ...axis, font, size: 24, space: 80, values: (_plot, times) => times.map((time) => timeOfDay(time * 1_000)) },
        { ...axis, font, size: 52, space: 28, values: (_plot, values) => values.map(format) },
      ],
      series: [
        {},
        ...names.map((label, index) => ({
          label,
          stroke: colour(PALETTE[index % PALETTE.length] ?? ''),
          width: 1.5,
          points: { show: false },
        })),
      ],
    },
    [[], ...names.map(() => [])],
    element,
  )
}
