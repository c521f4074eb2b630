//! The rectangle inside a panel's axes, and what all panels draw around it.

use super::axis::Ruler;
use super::figure::Panel;
use std::fmt::Write;

/// A rectangle on the page.
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    /// Where `value` lies across.
    pub(super) fn x(&self, ruler: &Ruler, value: f64) -> f64 {
        self.left + ruler.share(value) * self.width
    }

    /// Where `value` lies upwards.
    pub(super) fn y(&self, ruler: &Ruler, value: f64) -> f64 {
        self.bottom() - ruler.share(value) * self.height
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Title of the panel and labels of its axes.
    pub(super) fn titles(&self, svg: &mut String, panel: &Panel) {
        text(svg, "panel", self.left, self.top - 9.0, &panel.title);
        text(svg, "label middle", self.left + self.width / 2.0, self.bottom() + 34.0, &panel.x.label);
        let (x, y) = (self.left - 54.0, self.top + self.height / 2.0);
        let label = escaped(&panel.y.label);
        let _ = writeln!(
            svg,
            "<text class=\"label middle\" transform=\"translate({x:.1} {y:.1}) rotate(-90)\">{label}</text>"
        );
    }

    /// Ticks at the left, with lines across.
    pub(super) fn y_ticks(&self, svg: &mut String, ruler: &Ruler) {
        for (value, label) in &ruler.ticks {
            let y = self.y(ruler, *value);
            let (left, right) = (self.left, self.right());
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>");
            text(svg, "tick end", left - 6.0, y + 4.0, label);
        }
    }

    /// Ticks at the bottom, with lines upwards.
    pub(super) fn x_ticks(&self, svg: &mut String, ruler: &Ruler) {
        for (value, label) in &ruler.ticks {
            let x = self.x(ruler, *value);
            let (top, bottom) = (self.top, self.bottom());
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>");
            text(svg, "tick middle", x, bottom + 16.0, label);
        }
    }

    /// The lines at the left and at the bottom.
    pub(super) fn frame(&self, svg: &mut String) {
        let (left, top, bottom, right) = (self.left, self.top, self.bottom(), self.right());
        let _ = writeln!(svg, "<path class=\"axis\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>");
    }
}

pub(super) fn text(svg: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
