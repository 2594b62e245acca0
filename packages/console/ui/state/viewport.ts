/** How wide the screen is, and which colours the user wants. */
import { useEffect, useState } from 'preact/hooks'

const NARROW = '(max-width: 720px)'

/** Whether there is room for one column only. */
export function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(matchMedia(NARROW).matches)
  useEffect(() => {
    const media = matchMedia(NARROW)
    const onChange = () => setNarrow(media.matches)
    media.addEventListener('change', onChange)
    return () => media.removeEventListener('change', onChange)
  }, [])
  return isNarrow
}

const KEY = 'reeve-theme'
const THEME_EVENT = 'reeve-theme'

/** The theme that is used now. */
function currentTheme(): 'dark' | 'light' {
  const chosen = document.documentElement.dataset.theme
  if (chosen === 'dark' || chosen === 'light') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** Uses the theme that was chosen before, or that of the system. */
export function restoreTheme(): void {
  const chosen = storage()?.getItem(KEY)
  document.documentElement.dataset.theme = chosen === 'dark' || chosen === 'light' ? chosen : currentTheme()
}

/** Changes between dark and light. */
export function toggleTheme(): void {
  const next = currentTheme() === 'dark' ? 'light' : 'dark'
  document.documentElement.dataset.theme = next
  storage()?.setItem(KEY, next)
  dispatchEvent(new Event(THEME_EVENT))
}

/** The theme; components that use it follow its changes. */
export function useTheme(): 'dark' | 'light' {
  const [theme, setTheme] = useState(currentTheme())
  useEffect(() => {
    const onChange = () => setTheme(currentTheme())
    addEventListener(THEME_EVENT, onChange)
    return () => removeEventListener(THEME_EVENT, onChange)
  }, [])
  return theme
}

/** A file that was opened from disk may have none. */
function storage(): Storage | undefined {
  try {
    return localStorage
  } catch {
    return undefined
  }
}
