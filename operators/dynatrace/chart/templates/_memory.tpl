{{- /* The heap may take 60 % of the container's limit; code, buffers and young objects take the rest. */}}
{{- define "dynatrace.nodeOptions" -}}
{{- $mebibytes := divf (include "dynatrace.amount" . | float64) 1048576 -}}
{{- /* Above 1Ei is no memory, but a number that V8 would wrap. */ -}}
{{- if and (gt $mebibytes 0.0) (lt $mebibytes 1099511627776.0) -}}
--max-old-space-size={{ mulf $mebibytes 0.6 | ceil | int }}
{{- end -}}
{{- end }}

{{- /* Limits below what the chart would request, such as those that a release of another chart leaves; one line each. */}}
{{- define "dynatrace.smallMemoryLimits" -}}
{{- $defaults := .Files.Get "files/defaults.yaml" | fromYaml -}}
{{- range list "operator" "webhook" -}}
{{- $limit := dig "limits" "memory" "" (get $.Values .) -}}
{{- $wanted := (get $defaults .).requests.memory -}}
{{- if and $limit (lt (include "dynatrace.amount" $limit | float64) (include "dynatrace.amount" $wanted | float64)) }}
  {{ . }}.limits.memory: {{ $limit }}, by default at least {{ $wanted }}
{{- end }}
{{- end }}
{{- end }}
