/** Ages that go on. */
import { useEffect, useState } from 'preact/hooks'

/** The time of now, once a second. */
export function useNow(everyMs = 1_000): number {
  const [nowMs, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return nowMs
}

/** A duration in at most two units, such as `3m 20s`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (seconds < 10) return `${(ms / 1_000).toFixed(1)} s`
  if (seconds < 60) return `${seconds}s`
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600), Math.floor(seconds / 86_400)]
  if (minutes < 10) return `${minutes}m ${seconds % 60}s`
  if (minutes < 60) return `${minutes}m`
  if (hours < 48) return `${hours}h ${minutes % 60}m`
  return `${days}d`
}

/** How long ago, without fractions. */
export function age(sinceMs: number, nowMs: number): string {
  if (sinceMs <= 0) return ''
  const ms = Math.max(0, nowMs - sinceMs)
  return ms < 1_000 ? 'now' : duration(ms < 10_000 ? Math.floor(ms / 1_000) * 1_000 : ms).replace('.0 s', 's')
}

/** The time of day, with milliseconds where they matter. */
export function timeOfDay(ms: number, isExact = false): string {
  const date = new Date(ms)
  const text = date.toLocaleTimeString(undefined, { hour12: false })
  return isExact ? `${text}.${String(date.getMilliseconds()).padStart(3, '0')}` : text
}
