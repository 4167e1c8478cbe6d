"""What one machine carries: many projects, views, sections and conversations (`make capacity`)."""
