{{- /*
Values of other charts of the operator that are accepted, so that a values file can be used unchanged, but do nothing
here. One line each, with the reason.
*/}}
{{- define "dynatrace.valuesWithoutEffect" -}}
{{- $csi := .Values.csidriver -}}
{{- if .Values.debug }}
  debug: the image contains no debugger
{{- end }}
{{- range list "registrar" "livenessprobe" }}
{{- if hasKey (index $csi .) "builtIn" }}
  csidriver.{{ . }}.builtIn: it is always part of the operator's image
{{- end }}
{{- end }}
{{- if and $csi.enabled (not $csi.separateSidecars) }}
{{- range $sidecar := list "registrar" "livenessprobe" }}
{{- range keys (omit (index $csi $sidecar) "builtIn") | sortAlpha }}
  csidriver.{{ $sidecar }}.{{ . }}: used with csidriver.separateSidecars=true; otherwise container "server" does its work
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.rbac.telemetryIngest.annotations }}
  rbac.telemetryIngest.annotations: the account of the collector has those of rbac.extensions.annotations
{{- end }}
{{- range $group, $keys := dict
  "operator" (list "clientCacheCleanupInterval" "requeueAfter" "startupProbe")
  "webhook" (list "podDisruptionBudget" "replicas" "startupProbe" "topologySpreadConstraints")
  "csidriver" (list "maxUnmountedVolumeAge")
  "rbac" (list "kubeletFineGrainedAuthz") }}
{{- range $keys }}
{{- if get (get $.Values $group) . }}
  {{ $group }}.{{ . }}: of older or newer charts of the operator
{{- end }}
{{- end }}
{{- end }}
{{- if $csi.provisioner.startupProbe }}
  csidriver.provisioner.startupProbe: of newer charts of the operator
{{- end }}
{{- if .Values.extractCodeModulesImageLinks }}
  extractCodeModulesImageLinks: of newer charts of the operator
{{- end }}
{{- if eq (.Values.platform | default "") "gke-autopilot" }}
  platform: gke-autopilot is detected by its API
{{- end }}
{{- end }}
