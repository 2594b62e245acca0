{{- /* The heap may take 60 % of the container's limit; code, buffers and young objects take the rest. */}}
{{- define "dynatrace.nodeOptions" -}}
{{- $text := . | toString -}}
{{- $mebibytes := 0.0 -}}
{{- if hasSuffix "Mi" $text -}}
{{- $mebibytes = trimSuffix "Mi" $text | float64 -}}
{{- else if hasSuffix "Gi" $text -}}
{{- $mebibytes = mulf 1024.0 (trimSuffix "Gi" $text | float64) -}}
{{- else if hasSuffix "M" $text -}}
{{- $mebibytes = mulf 0.953674 (trimSuffix "M" $text | float64) -}}
{{- else if hasSuffix "G" $text -}}
{{- $mebibytes = mulf 953.674 (trimSuffix "G" $text | float64) -}}
{{- end -}}
{{- if gt $mebibytes 0.0 -}}
--max-old-space-size={{ mulf $mebibytes 0.6 | ceil | int }}
{{- end -}}
{{- end }}
